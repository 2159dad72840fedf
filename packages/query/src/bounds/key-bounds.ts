/**
 * Intervals are ascending whatever the direction of the field; over a hashed field they are points
 * of the hash.
 */
import { nullValue, type StringComparator } from '@shardlab/bson'
import type { EvaluationContext } from '../context.js'
import type { FilterNode } from '../filter/ast.js'
import { expressionBounds } from './expression-bounds.js'
import { complement, everything, intersection, isEverything, isPoint, point, union, type Interval } from './interval.js'
import type { KeyPattern } from './key-pattern.js'
import { boundsOfPredicate, unbounded, type BoundsRules, type FieldBounds } from './predicate-bounds.js'

export interface KeyFieldBounds {
  readonly path: string
  /** Ascending and disjoint. Empty: nothing matches. MinKey to MaxKey: no restriction. */
  readonly intervals: readonly Interval[]
  /** The intervals decide all conditions of the predicate on this path. */
  readonly exact: boolean
}

export interface KeyBounds {
  readonly fields: readonly KeyFieldBounds[]
}

export interface BoundsOptions {
  /** The query's collation: strings, objects and arrays then give no bounds. */
  readonly strings?: StringComparator | undefined
  /**
   * Different values of one document may satisfy two predicates on the key field, so the predicates
   * are not intersected. True: all fields; a set: the paths of the multikey fields. Default false,
   * as for shard keys.
   */
  readonly multikey?: boolean | ReadonlySet<string>
  /** Default true: null in a predicate also matches undefined. */
  readonly undefinedMatchesNull?: boolean
  /** Absent: `$expr` gives no bounds. Not together with `multikey`. */
  readonly expressions?: EvaluationContext
}

/**
 * A `$or` gives, field by field, the union over its branches: a superset when branches restrict
 * several fields ({@link boundsForOr} keeps them apart). Worked cases: the server's
 * chunk_manager_query_test.cpp.
 */
export function boundsFor(root: FilterNode, pattern: KeyPattern, options: BoundsOptions = {}): KeyBounds {
  return {
    fields: pattern.map(({ path, direction }) => {
      const multikey = typeof options.multikey === 'object' ? options.multikey.has(path) : (options.multikey ?? false)
      const rules = {
        strings: options.strings,
        hashed: direction === 'hashed',
        undefinedMatchesNull: options.undefinedMatchesNull ?? true,
      }
      const builder = new FieldBuilder(rules, multikey, options.expressions ?? null)
      const { intervals, exact } = builder.of(root, path)
      return { path, intervals, exact: exact && !mixesFields(root, path) }
    }),
  }
}

/**
 * One KeyBounds per alternative of a rooted `$or`, or of an `$and` with exactly one `$or` in it;
 * else one. Each contains the keys of every document that its alternative matches.
 */
export function boundsForOr(root: FilterNode, pattern: KeyPattern, options: BoundsOptions = {}): KeyBounds[] {
  const alternatives = alternativesOf(root)
  return alternatives.map((alternative) => boundsFor(alternative, pattern, options))
}

function alternativesOf(root: FilterNode): readonly FilterNode[] {
  if (root.kind === 'or') return root.children
  if (root.kind !== 'and') return [root]
  const ors = root.children.filter((child) => child.kind === 'or')
  const or = ors[0]
  if (ors.length !== 1 || or === undefined) return [root]
  const others = root.children.filter((child) => child !== or)
  return or.children.map((branch) => ({ kind: 'and', children: [...others, branch] }))
}

/**
 * If a `$or` combines this path with another one, the field's union is weaker than the predicate.
 */
function mixesFields(node: FilterNode, path: string): boolean {
  switch (node.kind) {
    case 'or':
    case 'nor':
      return mentions(node, (other) => other === path) && mentions(node, (other) => other !== path)
    case 'and':
      return node.children.some((child) => mixesFields(child, path))
    case 'not':
      return mixesFields(node.child, path)
    default:
      return false
  }
}

function mentions(node: FilterNode, test: (path: string) => boolean, prefix = ''): boolean {
  switch (node.kind) {
    case 'and':
    case 'or':
    case 'nor':
      return node.children.some((child) => mentions(child, test, prefix))
    case 'not':
      return mentions(node.child, test, prefix)
    case 'always':
      return false
    case 'expr':
    case 'jsonSchema':
      return true
    case 'elemMatchObject':
      return mentions(node.child, test, `${prefix}${node.path}.`)
    default:
      return test(prefix + node.path)
  }
}

/** Whether a predicate on `path` may restrict the value at `key`. */
function touches(path: string, key: string): boolean {
  return path === key || key.startsWith(`${path}.`) || path.startsWith(`${key}.`)
}

const unconstrained: FieldBounds = { intervals: everything, exact: true, invertible: false }
const nothing: FieldBounds = { intervals: [], exact: true, invertible: false }
const missingKey: FieldBounds = { intervals: [point(nullValue)], exact: false, invertible: false }

class FieldBuilder {
  readonly #rules: BoundsRules
  readonly #multikey: boolean
  readonly #expressions: EvaluationContext | null

  constructor(rules: BoundsRules, multikey: boolean, expressions: EvaluationContext | null) {
    this.#rules = rules
    this.#multikey = multikey
    this.#expressions = expressions
  }

  of(node: FilterNode, key: string): FieldBounds {
    switch (node.kind) {
      case 'and':
        return this.#and(node.children.map((child) => this.of(child, key)))
      case 'or':
        return this.#or(node.children.map((child) => this.of(child, key)))
      case 'nor':
        // A $nor without any path still restricts: {$nor: [{}]} matches nothing.
        return mentions(node, (path) => touches(path, key)) || !mentions(node, () => true) ? unbounded : unconstrained
      case 'not':
        return this.#not(node.child, key)
      case 'always':
        return node.value ? unconstrained : nothing
      case 'expr':
        if (this.#expressions === null) return unbounded
        return { ...unbounded, intervals: expressionBounds(node.expression, key, this.#rules, this.#expressions) }
      case 'jsonSchema':
        return unbounded
      case 'elemMatchObject': {
        if (!key.startsWith(`${node.path}.`)) return touches(node.path, key) ? unbounded : unconstrained
        return { ...this.of(node.child, key.slice(node.path.length + 1)), exact: false, invertible: false }
      }
      case 'elemMatchValue': {
        if (node.path !== key) return touches(node.path, key) ? unbounded : unconstrained
        // All conditions apply to the same element: intersect them even if the key is multikey.
        const element = new FieldBuilder(this.#rules, false, null).of({ kind: 'and', children: node.children }, '')
        return { ...element, exact: false, invertible: false }
      }
      default:
        if (node.path === key) return boundsOfPredicate(node, this.#rules)
        return touches(node.path, key) ? unbounded : unconstrained
    }
  }

  #and(children: readonly FieldBounds[]): FieldBounds {
    const restricting = children.filter((child) => !isEverything(child.intervals))
    const exact = children.every((child) => child.exact)
    if (restricting.length === 0) return { intervals: everything, exact, invertible: false }
    if (this.#multikey && restricting.length > 1) {
      const empty = restricting.find((child) => child.intervals.length === 0)
      return { intervals: (empty ?? narrowest(restricting)).intervals, exact: empty !== undefined, invertible: false }
    }
    const intervals = restricting
      .slice(1)
      .reduce<readonly Interval[]>((left, right) => intersection(left, right.intervals), restricting[0]!.intervals)
    return {
      intervals,
      exact,
      invertible: restricting.length === children.length && children.every((child) => child.invertible),
    }
  }

  #or(children: readonly FieldBounds[]): FieldBounds {
    return {
      intervals: union(children.flatMap((child) => child.intervals)),
      exact: children.every((child) => child.exact),
      invertible: children.every((child) => child.invertible),
    }
  }

  #not(child: FilterNode, key: string): FieldBounds {
    if (child.kind === 'exists' && child.path === key && !this.#rules.hashed) return missingKey
    if (!mentions(child, (path) => touches(path, key)))
      return child.kind === 'expr' || child.kind === 'jsonSchema' ? unbounded : unconstrained
    if (this.#rules.hashed || this.#multikey) return unbounded
    const positive = this.of(child, key)
    if (!positive.invertible || mentions(child, (path) => path !== key)) return unbounded
    return { intervals: complement(positive.intervals), exact: positive.exact, invertible: false }
  }
}

/** Points before ranges, fewer intervals before more. */
function narrowest(candidates: readonly FieldBounds[]): FieldBounds {
  const weight = (candidate: FieldBounds) =>
    (candidate.intervals.every(isPoint) ? 0 : 1_000_000) + candidate.intervals.length
  return candidates.reduce((best, candidate) => (weight(candidate) < weight(best) ? candidate : best))
}
