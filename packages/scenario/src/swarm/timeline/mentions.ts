/** Whether a command or reply has one of these values as an `_id`, also in a list of them. */
export function mentions(value: unknown, ids: readonly unknown[], isId = false): boolean {
  if (Array.isArray(value)) return value.some((each) => mentions(each, ids, isId))
  if (value === null || typeof value !== 'object') return isId && ids.includes(value)
  return Object.entries(value).some(([key, each]) => mentions(each, ids, isId || key === '_id'))
}
