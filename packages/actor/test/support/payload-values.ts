import fc from 'fast-check'

const scalar = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.constantFrom(
    0,
    -1,
    -32,
    -33,
    127,
    128,
    -128,
    -129,
    255,
    256,
    65_535,
    65_536,
    -32_769,
    2 ** 31,
    2 ** 32 - 1,
    2 ** 32,
    -(2 ** 31) - 1,
  ),
  fc.string({ unit: 'grapheme', maxLength: 80 }),
  fc.string({ maxLength: 300 }),
  fc.uint8Array({ maxLength: 300 }),
)
/** Any value that a payload can hold. */
export const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, scalar, fc.array(tie('value'), { maxLength: 20 })),
})).value
