/** The meaning of queries, updates and pipelines. */
import { row } from '../row.js'

export const languageBehaviours = {
  queryLanguage: row<number>(
    'The release whose operators, accumulators and stages are supported; later ones are unknown.',
    'release notes of each series, operator pages of the manual',
    ['2.6', 2.6],
    ['4.0', 4],
    ['4.4', 4.4],
    ['5.0', 5],
    ['6.0.2', 6],
    ['6.0', 6.03],
    ['7.0', 7],
    ['8.0', 8],
  ),
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
