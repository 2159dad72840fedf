import {
  BsonType,
  CommandError,
  documentValue,
  elementsOf,
  FieldIterator,
  isEmptyDocument,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import type { EvaluationContext } from '../../../context.js'
import { wrappedError } from '../../../filter/wrapped-errors.js'
import { compileFilter, type Filter } from '../../../filter/compile.js'
import { laterFilterFeatures, pipelineFilterFeatures, type FilterFeatures } from '../../../filter/features.js'
import { compileAddFields, compileUnset } from '../../../projection/add-fields.js'
import { compileProjection, type Projection } from '../../../projection/compile.js'
import { checkValidatedProject } from '../../../projection/specification.js'
import { checkNarrowProject } from '../../../projection/narrow-project.js'
import { newestLanguage } from '../../../language/language.js'
import { formatEvaluated } from '../../../values/format.js'
import { compileExpression } from '../../expressions/compile.js'
import { mapStage, type CompiledStage, type StageContext, type StageOperator } from '../stage.js'

function compileMatch(argument: RawValue, { evaluation, isFirst }: StageContext): CompiledStage {
  if (argument.type !== BsonType.object)
    throw new CommandError(15959, 'the match filter must be an expression in an object')
  const features = isFirst ? pipelineFilterFeatures : laterFilterFeatures
  const filter = compileMatchFilter(argument.slice(), evaluation, features)
  return mapStage('$match', (document) => (filter.matches(document) ? document : null))
}

function compileMatchFilter(document: Uint8Array, context: EvaluationContext, features: FilterFeatures): Filter {
  try {
    return compileFilter(document, context, features)
  } catch (error) {
    throw wrappedError(error, context, 16810, 'bad query')
  }
}

function projectionStage(
  name: string,
  argument: RawValue,
  evaluation: EvaluationContext,
  compile: (specification: Uint8Array) => Projection,
): CompiledStage {
  if (argument.type !== BsonType.object)
    throw new CommandError(
      name === '$project' ? 15969 : 40272,
      `${name} specification ${name === '$project' ? 'must be an object' : `stage must be an object, got ${typeName(argument.type)}`}`,
    )
  return appliedProjection(name, evaluation, () => compile(argument.slice()))
}

function appliedProjection(
  name: string,
  { language = newestLanguage }: EvaluationContext,
  compile: () => Projection,
): CompiledStage {
  let projection: Projection
  try {
    projection = compile()
  } catch (error) {
    if (!(error instanceof CommandError) || !language.projectErrorsNameStage) throw error
    throw new CommandError(error.code, `Invalid ${name} :: caused by :: ${error.message}`)
  }
  return mapStage(name, (document) => projection.apply(document))
}

function addFields(name: string): StageOperator {
  return {
    name,
    manualPage: `aggregation/${name.slice(1)}`,
    status: 'complete',
    inUpdates: true,
    sharded: 'shards',
    compile: (argument, { evaluation }) =>
      projectionStage(name, argument, evaluation, (specification) => compileAddFields(specification, evaluation)),
  }
}

function compileUnsetStage(argument: RawValue, { evaluation }: StageContext): CompiledStage {
  if (argument.type !== BsonType.string && argument.type !== BsonType.array)
    throw new CommandError(31002, '$unset specification must be a string or an array')
  const names = argument.type === BsonType.array ? elementsOf(argument) : [argument]
  if (names.length === 0)
    throw new CommandError(31119, '$unset specification must be a string or an array with at least one field')
  const paths = names.map((name) => {
    if (name.type !== BsonType.string)
      throw new CommandError(31120, '$unset specification must be a string or an array containing only string values')
    return name.asString()
  })
  return appliedProjection('$unset', evaluation, () => compileUnset(paths))
}

function replaceRoot(name: string, argument: RawValue, evaluation: EvaluationContext): CompiledStage {
  const expression = compileExpression(argument, evaluation)
  return mapStage(name, (document) => {
    const root = expression.evaluateOn(document)
    if (root?.type === BsonType.object) return root.slice()
    const what = name === '$replaceRoot' ? "'newRoot'" : "'replacement document'"
    throw new CommandError(
      40228,
      `${what} expression must evaluate to an object, but resulting value was: ${formatEvaluated(root)}. Type of resulting value: '${typeName(root?.type)}'. Input document: ${formatEvaluated(documentValue(document))}`,
    )
  })
}

function newRootOf(argument: RawValue): RawValue {
  if (argument.type !== BsonType.object)
    throw new CommandError(
      40229,
      `expected an object as specification for $replaceRoot stage, got ${typeName(argument.type)}`,
    )
  let newRoot: RawValue | undefined
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    if (it.name() !== 'newRoot')
      throw new CommandError(40415, `BSON field '$replaceRoot.${it.name()}' is an unknown field.`)
    newRoot = it.value()
  }
  if (newRoot === undefined)
    throw new CommandError(40414, "BSON field '$replaceRoot.newRoot' is missing but a required field")
  return newRoot
}

export const simpleStages: readonly StageOperator[] = [
  { name: '$match', manualPage: 'aggregation/match', status: 'complete', sharded: 'shards', compile: compileMatch },
  {
    name: '$project',
    manualPage: 'aggregation/project',
    status: 'complete',
    inUpdates: true,
    sharded: 'shards',
    compile: (argument, { evaluation }) =>
      projectionStage('$project', argument, evaluation, (specification) => {
        const { language = newestLanguage } = evaluation
        if (language.projectionsHaveOwnParser || !language.has('form', 'projectExclusion')) {
          if (isEmptyDocument(specification))
            throw language.projectionsHaveOwnParser
              ? new CommandError(51272, 'projection specification must have at least one field')
              : new CommandError(16403, '$projection requires at least one output field')
          if (!language.projectionsHaveOwnParser) checkNarrowProject(argument, language)
        } else checkValidatedProject(specification)
        return compileProjection(specification, evaluation, { dialect: 'aggregate' })
      }),
  },
  addFields('$addFields'),
  addFields('$set'),
  {
    name: '$unset',
    manualPage: 'aggregation/unset',
    status: 'complete',
    inUpdates: true,
    sharded: 'shards',
    compile: compileUnsetStage,
  },
  {
    name: '$replaceRoot',
    manualPage: 'aggregation/replaceRoot',
    status: 'complete',
    inUpdates: true,
    sharded: 'shards',
    compile: (argument, { evaluation }) => replaceRoot('$replaceRoot', newRootOf(argument), evaluation),
  },
  {
    name: '$replaceWith',
    manualPage: 'aggregation/replaceWith',
    status: 'complete',
    inUpdates: true,
    sharded: 'shards',
    compile: (argument, { evaluation }) => replaceRoot('$replaceWith', argument, evaluation),
  },
]
