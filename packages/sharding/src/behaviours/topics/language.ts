/** The meaning of queries, updates and pipelines. */
import { row } from '../row.js'

export const languageBehaviours = {
  undefinedMatchesNull: row<boolean>(
    'In query predicates the deprecated BSON type undefined equals null.',
    'release-notes/8.0-compatibility, queries for null',
    ['2.6', true],
    ['8.0', false],
  ),
  dollarFieldsCanBeStored: row<boolean>(
    'Field names that start with a dollar sign can be stored.',
    'release notes 5.0, field names; fixDocumentForInsert, storage_validation.cpp',
    ['2.6', false],
    ['5.0', true],
  ),
  validationErrorsHaveDetails: row<boolean>(
    'The error for a document that fails its validator has errInfo with the reason.',
    'release notes 5.0, schema validation',
    ['2.6', false],
    ['5.0', true],
  ),
}
