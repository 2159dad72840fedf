import { CommandError, decode, encode, findField, Long, toRawValue, typeName, type Document } from '@shardlab/bson'
import fc from 'fast-check'
import t from 'tap'
import { arithmetic, functions, type Number_ } from '../support/folded.js'
import { run } from '../support/helpers.js'
import { runs } from '../support/runs.js'

function valueOf(expression: unknown): Uint8Array {
  return run([encode({ $project: { _id: 0, v: expression } as Document })], [encode({ _id: 1 })])[0]!
}

function numberText(value: Number_): string {
  if (value.type === 'decimal') return `decimal ${value.value}`
  return 'value' in value ? `${value.type} ${value.value}` : value.type
}

function actualNumber(expression: unknown): string {
  let bytes
  try {
    bytes = valueOf(expression)
  } catch (error) {
    if (error instanceof CommandError) return 'refused'
    throw error
  }
  const value = findField(bytes, 'v') ?? toRawValue(null)
  if (typeName(value.type) === 'decimal') return `decimal ${decimalUnits(String(decode(bytes)['v']))}`
  if (typeName(value.type) === 'double') return `double ${value.asNumber()}`
  return value.isNumber() ? `${typeName(value.type)} ${value.asBigInt()}` : typeName(value.type)
}

/** In units of 10^-20. */
function decimalUnits(text: string): bigint {
  const [, sign, whole, fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:E([+-]?\d+))?$/.exec(text)!
  const shift = 20 - fraction.length + Number(exponent)
  const digits = BigInt(whole! + fraction) * 10n ** BigInt(Math.max(0, shift))
  const units = shift < 0 ? digits / 10n ** BigInt(-shift) : digits
  return sign === '-' ? -units : units
}

t.test('property: arithmetic over mixed types gives the computed value', (t) => {
  const seen = new Map<string, number>()
  fc.assert(
    fc.property(arithmetic, ({ expression, value }) => {
      const [is, wanted] = [actualNumber(expression), numberText(value)]
      if (is !== wanted) throw new Error(`${is} instead of ${wanted}`)
      seen.set(value.type, (seen.get(value.type) ?? 0) + 1)
    }),
    { numRuns: runs(4000) },
  )
  for (const type of ['int', 'long', 'double', 'decimal', 'null', 'refused'])
    t.ok((seen.get(type) ?? 0) > runs(20), `${type}: ${seen.get(type)}`)
  t.end()
})

t.test('property: operators of strings, arrays and dates give the computed value', (t) => {
  const plain = (value: unknown): unknown => (value instanceof Long ? value.toNumber() : value)
  fc.assert(
    fc.property(functions, ({ expression, value }) => {
      const is = JSON.stringify(plain(decode(valueOf(expression))['v']))
      const wanted = JSON.stringify(value)
      if (is !== wanted) throw new Error(`${is} instead of ${wanted}`)
    }),
    { numRuns: runs(4000) },
  )
  t.pass()
  t.end()
})
