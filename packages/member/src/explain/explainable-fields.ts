/** Manual: reference/command/explain. */
import type { FieldSpecs } from '@shardlab/actor'
import type { Language } from '@shardlab/query'
import { fieldsIn } from '../arguments/command-language.js'
import { aggregateSpec } from '../specs/aggregate.js'
import { countSpec } from '../specs/count.js'
import { distinctSpec } from '../specs/distinct.js'
import { findSpec } from '../specs/find.js'
import { findAndModifySpec } from '../specs/find-and-modify.js'

const writeFields = { ordered: 'bool', bypassDocumentValidation: 'bool', let: 'object' } as const

const updateFields = { ...writeFields, updates: 'array!' } as const

const deleteFields = { ...writeFields, deletes: 'array!' } as const

const explainable: ReadonlyMap<string, FieldSpecs> = new Map<string, FieldSpecs>([
  ['aggregate', aggregateSpec.fields],
  ['count', countSpec.fields],
  ['delete', deleteFields],
  ['distinct', distinctSpec.fields],
  ['find', findSpec.fields],
  ['findAndModify', findAndModifySpec.fields],
  ['findandmodify', findAndModifySpec.fields],
  ['update', updateFields],
])

/** undefined: the command is unknown or cannot be explained */
export function explainableFields(name: string, language: Language): FieldSpecs | undefined {
  const fields = explainable.get(name)
  return fields === undefined
    ? undefined
    : fieldsIn(language, name === 'findandmodify' ? 'findAndModify' : name, fields)
}
