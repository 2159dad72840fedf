/**
 * Views as collections that are created, modified and dropped. Server:
 * `ChangeStreamViewDefinitionEventTransformation`.
 */
import { DocumentWriter, FieldIterator, findField, firstFieldName } from '@shardlab/bson'
import type { EventParts } from './event-parts.js'
import { fieldOf, type Operation } from './operation.js'

const types: Readonly<Record<string, string>> = { i: 'create', u: 'modify', d: 'drop' }

/** @param viewsNs `database.system.views` */
export function viewChange(
  operation: Operation,
  viewsNs: string,
): Pick<EventParts, 'type' | 'ns' | 'description' | 'nsType'> {
  const op = fieldOf(operation, 'op')!.asString()
  const object = fieldOf(operation, 'o')!.slice()
  // A document of system.views has the full name of the view as its _id.
  const named = op === 'u' && firstFieldName(object) === '$v' ? fieldOf(operation, 'o2')!.slice() : object
  const id = findField(named, '_id')?.asString() ?? viewsNs
  const writer = new DocumentWriter(object.length)
  for (const it = new FieldIterator(object); it.next();) if (it.name() !== '_id') writer.value(it.name(), it.value())
  return {
    type: types[op]!,
    ns: id,
    description: op === 'd' ? null : writer.finish(),
    nsType: op === 'i' ? 'view' : null,
  }
}
