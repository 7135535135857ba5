// rejected: leaves out some operands
Recast Autocast::recast(std::string_view op, std::span<const Tensor* const> operands) {
  const RunsIn runs_in = rule_of(op);
  if (runs_in == RunsIn::given || has_f64(operands)) return {};
  const DType format = runs_in == RunsIn::narrow ? format_
                       : runs_in == RunsIn::wide ? DType::f32
                                                 : widest(operands);
  if (std::ranges::all_of(operands, [&](const Tensor* x) { return x->dtype() == format; })) return {};
  std::vector<Tensor> as;
  for (const Tensor* x : operands)
    if (x->dtype() != format) as.push_back(cast_of(*x, format));
  return Recast(std::move(as));
}
