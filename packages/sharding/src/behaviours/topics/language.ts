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
    "The error for a document that fails its validator has errInfo with the reason, also when an expression cannot be evaluated. Before, that expression's error reached the client.",
    'release notes 5.0, schema validation; CollectionImpl::checkValidation',
    ['2.6', false],
    ['5.0', true],
  ),
  collModNamesValidator: row<boolean>(
    'collMod words the error of a validator as "Parsing of collection validator failed".',
    'CollectionImpl::parseValidator; since 4.2 at the latest',
    ['2.6', false],
    ['4.4', true],
  ),
}
