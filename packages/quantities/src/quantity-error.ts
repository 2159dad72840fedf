/**
 * A text or number is not the quantity that it should be. The message continues a sentence that
 * begins with the name of the setting: `must have a unit, such as 64KB or 64MB`.
 */
export class QuantityError extends Error {
  override readonly name = 'QuantityError'
}

/** A number, or its text: a quantity without its unit. null: something else. */
export function bareNumber(value: unknown): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : null
  return typeof value === 'string' && /^\s*-?\d+(?:\.\d+)?\s*$/.test(value) ? value.trim() : null
}
