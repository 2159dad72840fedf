/** For comparing, ordering and hashing. Format: IEEE 754-2008, binary integer significand. */
import { readInt64, readUint32 } from '../bytes/little-endian.js'

export type Decimal =
  | { readonly kind: 'nan' }
  | { readonly kind: 'infinity'; readonly negative: boolean }
  /** `(negative ? -1 : 1) * coefficient * 10 ** exponent`; coefficient at least 0. */
  | { readonly kind: 'finite'; readonly negative: boolean; readonly coefficient: bigint; readonly exponent: number }

const maxCoefficient = 10n ** 34n - 1n
const exponentBias = 6176

/** Coefficients above 34 digits are read as zero, as the standard requires. */
export function readDecimal128(bytes: Uint8Array, start: number): Decimal {
  const top = readUint32(bytes, start + 12)
  const negative = top >>> 31 === 1
  const combination = (top >>> 26) & 0x1f
  if (combination === 0x1f) return { kind: 'nan' }
  if (combination === 0x1e) return { kind: 'infinity', negative }
  // With the two top bits of the combination set, the exponent is two bits lower and the
  // coefficient always exceeds 34 digits.
  if (combination >>> 3 === 3)
    return { kind: 'finite', negative, coefficient: 0n, exponent: ((top >>> 15) & 0x3fff) - exponentBias }
  const exponent = ((top >>> 17) & 0x3fff) - exponentBias
  const high = BigInt.asUintN(64, readInt64(bytes, start + 8)) & 0x1_ffff_ffff_ffffn
  const coefficient = (high << 64n) | BigInt.asUintN(64, readInt64(bytes, start))
  return { kind: 'finite', negative, coefficient: coefficient > maxCoefficient ? 0n : coefficient, exponent }
}
