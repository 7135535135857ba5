// Exercise 4.2: relu, and its backward.
//
//     forward(x)       y = the larger of x and 0. 0 and -0 become +0, and NaN stays NaN: who looks for the
//                      first NaN of a model has to find it behind a relu, too.
//     backward(y, dy)  dx = dy where x was above 0, else +0, whatever dy is: also when it is infinite or NaN.
//                      x is not kept; y, what forward gave, says enough. At 0 the slope is taken to be 0.
//                      Where y is NaN, dy passes: nobody knows the slope, so nothing is hidden.
//
// C is float (values of FP16 have been widened) or double. Every relu of every model is this, on a GPU too.
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
