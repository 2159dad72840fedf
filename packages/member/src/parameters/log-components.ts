/** For logComponentVerbosity. Server: log_component.cpp, parse_log_component_settings.cpp. */
import { BsonType, CommandError, FieldIterator, typeName, type DocumentWriter, type RawValue } from '@shardlab/bson'
import { formatValue } from '@shardlab/query'

/** The component inherits its parent's verbosity. */
const inherited = -1

const components: readonly (readonly [name: string, ...inside: readonly string[]])[] = [
  ['accessControl'],
  ['command'],
  ['control'],
  ['executor'],
  ['geo'],
  ['index'],
  ['network', 'asio', 'bridge', 'connectionPool'],
  ['query'],
  ['replication', 'election', 'heartbeats', 'initialSync', 'rollback'],
  ['sharding', 'shardingCatalogRefresh'],
  ['storage', 'recovery', 'journal'],
  ['write'],
  ['ftdc'],
  ['transaction'],
]

/** By the dotted name of a component; the root, `default`, has its verbosity in logLevel. */
type Verbosities = ReadonlyMap<string, number>
const root = 'default'

/** The value of the parameter: `command:1 storage.journal:2`, without the root. */
/** @param text undefined: the version has no components */
export function verbositiesOf(text: string | undefined): Map<string, number> {
  const pairs = text === undefined || text === '' ? [] : text.split(' ')
  return new Map(
    pairs.map((pair) => {
      const [name, level] = pair.split(':') as [string, string]
      return [name, Number(level)]
    }),
  )
}

/** `{ verbosity, component: { verbosity, … }, … }` */
export function writeLogComponents(writer: DocumentWriter, name: string, logLevel: number, own: Verbosities): void {
  const level = (component: string) => own.get(component) ?? inherited
  writer.startDocument(name).int32('verbosity', logLevel)
  for (const [component, ...inside] of components) {
    writer.startDocument(component).int32('verbosity', level(component))
    for (const each of inside)
      writer
        .startDocument(each)
        .int32('verbosity', level(`${component}.${each}`))
        .end()
    writer.end()
  }
  writer.end()
}

/**
 * The values of the parameters logLevel and logComponentVerbosity after `value` was set. A negative
 * verbosity makes its component inherit.
 * @throws CommandError 14 TypeMismatch, 2 BadValue
 */
export function parseLogComponents(
  value: RawValue,
  current: { readonly logLevel: number; readonly own: Verbosities },
): { readonly logLevel: number; readonly own: string } {
  if (value.type !== BsonType.object && value.type !== BsonType.array)
    throw new CommandError('TypeMismatch', `log component verbosity is not a BSON object: ${formatValue(value)}`)
  const own = new Map(current.own)
  let { logLevel } = current
  const set = (component: string, level: number): void => {
    if (component === root) logLevel = Math.max(0, level)
    else if (level < 0) own.delete(component)
    else own.set(component, level)
  }
  readSettings(value, root, set)
  return { logLevel, own: [...own].map(([name, level]) => `${name}:${level}`).join(' ') }
}

function readSettings(document: RawValue, parent: string, set: (component: string, level: number) => void): void {
  for (const it = new FieldIterator(document.bytes, document.start); it.next();) {
    const name = it.name()
    const value = it.value()
    if (name === 'verbosity') {
      if (!value.isNumber())
        throw new CommandError(
          'BadValue',
          `Expected ${parent}.verbosity to be a number, but found ${typeName(value.type)}`,
        )
      set(parent, Math.trunc(value.asNumber()))
      continue
    }
    const component = parent === root ? name : `${parent}.${name}`
    if (!exists(component)) throw new CommandError('BadValue', `Invalid component name ${parent}.${name}`)
    if (value.isNumber()) set(component, Math.trunc(value.asNumber()))
    else if (value.type === BsonType.object) readSettings(value, component, set)
    else throw new CommandError('BadValue', `Invalid type ${typeName(value.type)}for component ${parent}.${name}`)
  }
}

function exists(component: string): boolean {
  const [name, inside] = component.split('.') as [string, string | undefined]
  const found = components.find((each) => each[0] === name)
  return found !== undefined && (inside === undefined || found.indexOf(inside) > 0)
}
