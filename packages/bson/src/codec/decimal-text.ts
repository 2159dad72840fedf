import { Decimal128 } from 'bson'
import { RawValue } from '../values/raw-value.js'
import { BsonType } from '../values/types.js'

/** As the server prints it. @param value a decimal128 */
export function decimalText({ bytes, start, end }: RawValue): string {
  return new Decimal128(new Uint8Array(bytes.subarray(start, end))).toString()
}

/** From a number as text, rounded half to even at 34 digits. @throws Error for another text */
export function decimalValue(text: string): RawValue {
  return new RawValue(BsonType.decimal128, Decimal128.fromStringWithRounding(text).bytes, 0, 16)
}
