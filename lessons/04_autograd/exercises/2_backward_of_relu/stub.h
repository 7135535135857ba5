// Exercise 4.2: relu, and its backward.
//
//     forward(x)       y = the larger of x and 0. 0 and -0 become +0. NaN stays NaN: a search for the first
//                      NaN of a model has to find it behind a relu, too.
//     backward(y, dy)  dx = dy where x was above 0, else +0, even if dy is infinite or NaN. x is not kept; y,
//                      the result of forward, is enough. At 0 the slope is 0. Where y is NaN, dy passes: the
//                      slope is unknown, so nothing is hidden.
//
// C is float (FP16 values are widened before) or double. Every relu of every model runs this, on a GPU too.
struct Relu {
  template <class C>
  static TINYMP_HD C forward(C x) {
    return x;  // TODO
  }
  template <class C>
  static TINYMP_HD C backward(C y, C dy) {
    return dy;  // TODO: this is the slope of x itself.
  }
};
