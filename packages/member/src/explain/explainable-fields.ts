/** Which commands can be explained. Manual: reference/command/explain. */
import type { FieldSpecs } from '@shardlab/actor'
import { aggregateFields } from '../specs/aggregate.js'
import { countFields } from '../specs/count.js'
import { distinctFields } from '../specs/distinct.js'
import { findFields } from '../specs/find.js'
import { findAndModifyFields } from '../specs/find-and-modify.js'

const writeFields = { ordered: 'bool', bypassDocumentValidation: 'bool', let: 'object' } as const

const updateFields = { ...writeFields, updates: 'array!' } as const

const deleteFields = { ...writeFields, deletes: 'array!' } as const

const explainable: ReadonlyMap<string, FieldSpecs> = new Map<string, FieldSpecs>([
  ['aggregate', aggregateFields],
  ['count', countFields],
  ['delete', deleteFields],
  ['distinct', distinctFields],
  ['find', findFields],
  ['findAndModify', findAndModifyFields],
  ['findandmodify', findAndModifyFields],
  ['update', updateFields],
])

/** Fields of a command that explain takes; undefined: there is no such command, or explain refuses it. */
export function explainableFields(name: string): FieldSpecs | undefined {
  return explainable.get(name)
}
