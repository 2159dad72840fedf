/** Server: update/update_driver.cpp and the nodes next to it. */
import {
  BsonType,
  CommandError,
  compareValues,
  FieldIterator,
  findField,
  firstFieldName,
  isEmptyDocument,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { findOperator, type EvaluationContext } from '../context.js'
import type { Filter } from '../filter/compile.js'
import { newestLanguage, type Language } from '../language/language.js'
import { formatField, formatValue } from '../values/format.js'
import { applyLeaf, ReachedPaths, type ApplyContext } from './apply-leaf.js'
import { compileArrayFilters } from './array-filters.js'
import { documentDiff } from './difference/document-diff.js'
import { ModifierDiff } from './difference/modifier-diff.js'
import { TreeNode } from './document-tree.js'
import { documentIdText } from './modifier.js'
import { updateModifiers } from './modifiers/table.js'
import { compilePipelineUpdate } from './pipeline-update.js'
import { checkKeptId, immutableIdAltered, replaceDocument } from './replacement.js'
import { checkStoredDocument } from './stored-names.js'
import { applyTopLevel, type Step } from './top-level.js'
import {
  checkConflicts,
  conflictOf,
  compareNames,
  comparePaths,
  parseUpdatePath,
  withPosition,
  type UpdatePath,
} from './update-path.js'

export type UpdateSpecification = { readonly document: Uint8Array } | { readonly pipeline: readonly Uint8Array[] }

export interface UpdateOptions {
  readonly arrayFilters?: readonly Uint8Array[]
  /** `c` of a pipeline update. */
  readonly constants?: ReadonlyMap<string, RawValue>
}

export interface ApplyOptions {
  /** The document is the start of an upsert: $setOnInsert applies. Default false. */
  readonly isInsert?: boolean
  /** For the positional `$`. */
  readonly filter?: Filter
}

export interface Update {
  readonly isReplacement: boolean
  /**
   * Null: nothing changes.
   * @throws CommandError ImmutableField (66) when `_id` would change, PathNotViable (28),
   *   TypeMismatch (14), BadValue (2) and the errors of the operators
   */
  apply(document: Uint8Array, options?: ApplyOptions): Uint8Array | null
  /**
   * The change that {@link apply} made, in the form `$v: 2` of oplog entries ({@link compileDelta}
   * applies it). Null: the oplog has the whole document.
   */
  difference(before: Uint8Array, after: Uint8Array): Uint8Array | null
}

/**
 * @throws CommandError FailedToParse (9) for unknown modifiers, ConflictingUpdateOperators (40),
 *   DollarPrefixedFieldName (52), InvalidOptions (72), and the errors of the operators
 */
export function compileUpdate(update: UpdateSpecification, options: UpdateOptions, context: EvaluationContext): Update {
  if ('pipeline' in update) {
    if (options.arrayFilters !== undefined && options.arrayFilters.length > 0)
      throw new CommandError('FailedToParse', 'Cannot specify arrayFilters for a pipeline-style update')
    const { pipelineUpdatesAreReplacements } = context.language ?? newestLanguage
    const run = compilePipelineUpdate(update.pipeline, context, options.constants)
    return {
      isReplacement: false,
      apply(document) {
        const after = checkedResult(document, run(document))
        // Unlike a replacement, a pipeline may set names with $ at the top of an existing document.
        if (after !== null) checkStoredDocument(after, true, context)
        return after
      },
      difference: (before, after) =>
        pipelineUpdatesAreReplacements ? null : documentDiff(before, after, deltaEntryBytes),
    }
  }
  if (firstFieldName(update.document)?.startsWith('$'))
    return withFailureCode(compileModifiers(update.document, options, context), context)
  if (options.arrayFilters !== undefined && options.arrayFilters.length > 0)
    throw new CommandError('FailedToParse', 'Cannot specify arrayFilters and a replacement-style update')
  const { immutableIdErrors, updateFailureCodes } = context.language ?? newestLanguage
  return {
    isReplacement: true,
    apply(document, { isInsert = false } = {}) {
      // As on the server, a replacement without `_id` differs from every document.
      if (isSame(document, update.document)) return null
      if (immutableIdErrors === 'document')
        checkKeptId(document, update.document, updateFailureCodes![isInsert ? 'insert' : 'update'])
      checkStoredDocument(update.document, isInsert, context)
      return replaceDocument(document, update.document)
    },
    difference: () => null,
  }
}

/** Server: kSizeOfDeltaOplogEntryMetadata. */
const deltaEntryBytes = 15

/** Errors about what is stored have their own codes in every release. */
function withFailureCode(update: Update, { language = newestLanguage }: EvaluationContext): Update {
  const { updateFailureCodes } = language
  if (updateFailureCodes === null) return update
  return {
    ...update,
    apply(document, options) {
      try {
        return update.apply(document, options)
      } catch (error) {
        if (!(error instanceof CommandError) || storageErrors.has(error.codeName)) throw error
        const code = options?.isInsert === true ? updateFailureCodes.insert : updateFailureCodes.update
        throw new CommandError(code, error.message, { cause: error })
      }
    },
  }
}

const storageErrors: ReadonlySet<string> = new Set(['ImmutableField', 'DollarPrefixedFieldName', 'DottedFieldName'])

function compileModifiers(update: Uint8Array, options: UpdateOptions, context: EvaluationContext): Update {
  const { language = newestLanguage } = context
  const steps = stepsOf(update, context)
  const paths = steps.map((step) => step.path)
  const conflict = language.updateFailureCodes === null ? null : conflictOf(paths)
  if (language.updateFailureCodes === null) checkConflicts(paths)
  const arrayFilters = compileArrayFilters(options.arrayFilters ?? [], paths, update, context)
  const order = orderOf(language)
  if (order !== null) steps.sort((a, b) => order(a.path, b.path))
  const touchesId = paths.some((path) => path.names[0] === '_id')
  const isDynamic = paths.length > 1 && paths.some((path) => path.parts.some((part) => part.kind !== 'field'))
  const isMatched = paths.some((path) => path.parts.some((part) => part.kind === 'matched'))
  const topLevel = !touchesId && paths.every((path) => path.parts.length === 1)
  let difference: ModifierDiff | null = null
  return {
    isReplacement: false,
    apply(document, options = {}) {
      const { isInsert = false } = options
      if (conflict !== null) throw conflict
      // Only when needed: this call may compile the filter.
      const position = isMatched ? (options.filter?.matchedPosition(document) ?? -1) : -1
      const applying: ApplyContext = {
        evaluation: context,
        isInsert,
        arrayFilters,
        original: document,
        reached: isDynamic ? new ReachedPaths() : null,
        documentId: () => documentIdText(document),
        matchedPosition() {
          if (position < 0)
            throw new CommandError('BadValue', 'The positional operator did not find the match needed from the query.')
          return position
        },
      }
      if (topLevel) return applyTopLevel(document, steps, applying)
      const root = TreeNode.ofDocument(document)
      let changed = false
      for (const { path, leaf } of isDynamic && position >= 0 ? inOrderAt(steps, position, order) : steps) {
        if (!applyLeaf(root, path, leaf, applying)) continue
        changed = true
        if (touchesId && path.names[0] === '_id') checkId(document, root, path, language)
      }
      return changed ? root.toDocument() : null
    },
    difference: (before, after) => (difference ??= new ModifierDiff(steps)).of(before, after),
  }
}

/** Sorts by the paths with this index in the place of `$`. */
function inOrderAt(steps: readonly Step[], position: number, order: PathOrder | null): readonly Step[] {
  if (order === null) return steps
  const placed = steps.map((step) => ({ step, path: withPosition(step.path, position) }))
  return placed.sort((a, b) => order(a.path, b.path)).map(({ step }) => step)
}

type PathOrder = (a: UpdatePath, b: UpdatePath) => number

/** Null: as written. */
function orderOf({ updateOrder }: Language): PathOrder | null {
  if (updateOrder === 'written') return null
  return updateOrder === 'names' ? compareNames : comparePaths
}

function stepsOf(update: Uint8Array, context: EvaluationContext): Step[] {
  const { language = newestLanguage } = context
  const allowsEmpty = language.has('form', 'emptyModifiers')
  const allowsFilters = language.has('form', 'arrayFilters')
  const steps: Step[] = []
  for (const it = new FieldIterator(update); it.next();) {
    const name = it.name()
    const modifier = findOperator('update', updateModifiers, name, context)
    if (modifier === undefined) {
      const hint = language.modifierErrorsNamePipelines
        ? '. Expected a valid update modifier or pipeline-style update specified as an array'
        : ''
      throw new CommandError('FailedToParse', `Unknown modifier: ${name}${hint}`)
    }
    const fields = it.value()
    if (fields.type === BsonType.object && isEmptyDocument(fields.bytes, fields.start) && !allowsEmpty)
      throw new CommandError(
        'FailedToParse',
        `'${name}' is empty. You must specify a field like so: {${name}: {<field>: ...}}`,
      )
    if (fields.type !== BsonType.object) {
      throw new CommandError(
        'FailedToParse',
        `Modifiers operate on fields but we found type ${typeName(fields.type)} instead. For example: {$mod: {<field>: ...}} not {${name}: ${formatValue(fields)}}`,
      )
    }
    for (const field = new FieldIterator(fields.bytes, fields.start); field.next();) {
      for (const { path, leaf } of modifier.compile(field.name(), field.value(), context))
        steps.push({ path: parseUpdatePath(path, allowsFilters), leaf })
    }
  }
  return steps
}

function checkId(before: Uint8Array, after: TreeNode, path: UpdatePath, { immutableIdErrors }: Language): void {
  const old = findField(before, '_id')
  if (old === undefined) return
  const now = after.get('_id')?.toRaw()
  if (now !== undefined && compareValues(old, now) === 0) return
  throw new CommandError(
    'ImmutableField',
    immutableIdErrors === 'document' && now !== undefined
      ? `After applying the update to the document {${formatField('_id', old)} , ...}, the (immutable) field '_id' was found to have been altered to ${formatField('_id', now)}`
      : `Performing an update on the path '${path.dotted}' would modify the immutable field '_id'`,
  )
}

/** A pipeline may change any field but `_id`. */
function checkedResult(before: Uint8Array, after: Uint8Array): Uint8Array | null {
  const old = findField(before, '_id')
  const now = findField(after, '_id')
  if (old === undefined) return unlessSame(before, after)
  if (now === undefined) return unlessSame(before, replaceDocument(before, after))
  if (compareValues(old, now) !== 0) throw immutableIdAltered(now)
  return unlessSame(before, firstFieldName(after) === '_id' ? after : replaceDocument(before, after))
}

function unlessSame(before: Uint8Array, after: Uint8Array): Uint8Array | null {
  return isSame(before, after) ? null : after
}

function isSame(before: Uint8Array, after: Uint8Array): boolean {
  return Buffer.compare(before, after) === 0
}
