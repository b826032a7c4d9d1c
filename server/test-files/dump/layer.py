import jax.numpy as jnp


def scores(x, w):
    return jnp.dot(x, w, preferred_element_type=jnp.float32)


def step(x, w, bias):
    y = jnp.tanh(scores(x, w) + bias)
    return y.T * 2.0 + 0.0, jnp.sum(y * y, axis=0)
