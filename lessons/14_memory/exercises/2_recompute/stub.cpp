// Exercise 14.2: recompute one block.
//
// recompute(block, x) has made a Segment. It holds block_, inputs_ and tape_, the tape of the training step. Forward calls
// run_first(). Then the tape holds one op for the whole block. When backward comes to that op, it calls run_again().
//
//   run_first   runs block_(inputs_) and returns its results. Its ops are not recorded: until backward, nothing but the inputs
//               is kept. Keep what the second run needs of this moment: the regions of autocast and FP8 may be over by then.
//   run_again   runs block_(inputs_) once more, recorded, and then backward through it.
//
// A block has one input and one result, or several of each; some results may never reach the loss. Each block may run under
// policies of its own. A block may throw: policies, tape and journal are as before then. When all is over nothing is kept.
//
// In both runs everything must be the same: the random numbers, the casts, the results. What a block does beside its result
// (it draws, it moves running averages) goes through remembered(), and happens in the first run only.
//
// You can use
//     Pause name(tape_);                    while `name` lives, ops leave nothing on the tape
//     detail::SegmentRun run(journal_, is_first);
//                                           while `run` lives: is_first true: remembered() calls the effect, and writes what it
//                                           returns into journal_; false: it calls nothing, and reads from journal_
//     run.expect_end()                      behind the second run: throws Error if the journal holds more
//     cast_policy()                         autocast that is in force, or nullptr; cast_policy()->kept() is the same for later:
//                                           ask for it only where there is one
//     product_policy()                      that of FP8, a shared_ptr
//     casts_, products_                     members, to keep the two in: shared_ptrs
//     InForce name(casts_.get(), products_);
//                                           while `name` lives, these are in force: none where they are null
//     SecondTape second(*this);             while `second` lives, ops are recorded on second.tape
//     walk(second.tape, results)            backward, from the gradients of the results that reached the loss
std::vector<Tensor> Tape::Segment::run_first() {
  // TODO: what must not be recorded, and what has to be kept?
  return block_(inputs_);
}

void Tape::Segment::run_again() {
  SecondTape second(*this);
  // TODO: under what was in force the first time
  walk(second.tape, block_(inputs_));
}
