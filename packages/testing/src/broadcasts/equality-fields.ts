/** Fields that filters fix to single values: a shard key that begins with one leads to shards. */

type Fields = Readonly<Record<string, unknown>>

/** @param command as a driver sends it. Empty: no field is fixed in every filter of the command */
export function equalityFields(command: Fields): string[] {
  const [first, ...others] = filtersOf(command).map(fieldsOf)
  return first === undefined ? [] : [...first].filter((field) => others.every((each) => each.has(field))).toSorted()
}

function filtersOf(command: Fields): Fields[] {
  const lists: [name: string, filter: string][] = [
    ['updates', 'q'],
    ['deletes', 'q'],
  ]
  for (const [name, filter] of lists) {
    const list = command[name]
    if (Array.isArray(list)) return list.map((each: Fields) => asFields(each[filter]))
  }
  if (Array.isArray(command['pipeline'])) {
    const match = (command['pipeline'] as Fields[])[0]?.['$match']
    return [asFields(match)]
  }
  return [asFields(command['filter'] ?? command['query'])]
}

function fieldsOf(filter: Fields): Set<string> {
  const fields = new Set<string>()
  for (const [name, value] of Object.entries(filter)) {
    if (name === '$and' && Array.isArray(value))
      for (const each of value) for (const field of fieldsOf(asFields(each))) fields.add(field)
    else if (!name.startsWith('$') && isFixed(value)) fields.add(name)
  }
  return fields
}

/** One value, or a list of them. */
function isFixed(value: unknown): boolean {
  if (value instanceof RegExp) return false
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return true
  const names = Object.keys(value)
  const operators = names.filter((name) => name.startsWith('$'))
  return operators.length === 0 ? true : operators.some((name) => name === '$eq' || name === '$in')
}

function asFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}
