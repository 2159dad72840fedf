/** Scenario files: YAML, each broken rule with its line. */
import { OptionError } from '@shardlab/cluster'
import { LineCounter, parseDocument } from 'yaml'
import { parseExpectation } from './expectation.js'
import { mergeVariant } from './merge.js'
import { brokenRule, type BrokenRule } from './rules.js'
import { scenarioSchema, type ScenarioSource } from './schema.js'

/** One run of a scenario: plain data, every default filled in; times in milliseconds, sizes in bytes, rates a second. */
export interface Scenario extends ScenarioSource {
  readonly name: string
}

/** A file: the scenario itself when it has no variants, else its variants. */
export interface ScenarioFile {
  readonly path: string
  readonly shows: string | null
  readonly seed: number
  readonly variants: readonly Scenario[]
}

/**
 * Reads a scenario.
 * @param path what to call the file in errors
 * @throws OptionError with file, line and rule
 */
export function parseScenario(text: string, path: string): ScenarioFile {
  const lines = new LineCounter()
  const yaml = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const broken = yaml.errors[0] ?? yaml.warnings[0]
  if (broken !== undefined) throw new OptionError(`${path}:${lines.linePos(broken.pos[0]).line}: ${sentence(broken.message)}`)

  /** The line of a part, or of the nearest part around it that exists. */
  const lineOf = (parts: readonly PropertyKey[]): number => {
    for (let length = parts.length; length > 0; length--) {
      const node = yaml.getIn(parts.slice(0, length), true) as { range?: [number, number, number] } | undefined
      if (node?.range != null) return lines.linePos(node.range[0]).line
    }
    return 1
  }
  const fail = (parts: readonly PropertyKey[], message: string): never => {
    const where = parts.map(String).join('.')
    throw new OptionError(`${path}:${lineOf(parts)}: ${where === '' ? 'the scenario' : where}: ${sentence(message)}`)
  }
  let source: unknown
  try {
    source = yaml.toJS({ maxAliasCount: 100 })
  } catch (error) {
    throw new OptionError(`${path}: ${sentence(error instanceof Error ? error.message : String(error))}`)
  }
  if (typeof source !== 'object' || source === null || Array.isArray(source)) return fail([], 'is a map of settings')
  const { variants, ...base } = source as Record<string, unknown>

  const check = (
    value: Record<string, unknown>,
    name: string,
    originOf: (path: readonly PropertyKey[]) => readonly PropertyKey[],
  ): Scenario => {
    const result = scenarioSchema.safeParse(value)
    if (!result.success) {
      const issue = result.error.issues[0]!
      if (issue.code === 'unrecognized_keys') return fail(originOf([...issue.path, issue.keys[0]!]), 'there is no such setting')
      const missing = valueAt(value, issue.path) === undefined && issue.code !== 'custom'
      return fail(originOf(issue.path), missing ? 'is missing' : issue.message)
    }
    const rule: BrokenRule | null = brokenRule(result.data)
    if (rule !== null) return fail(originOf(rule.path), rule.message)
    for (const [i, text] of result.data.expect.entries()) {
      const problem = parseExpectation(text)
      if (typeof problem === 'string') return fail(originOf(['expect', i]), problem)
    }
    return { ...result.data, name }
  }
  const alone = check(base, 'scenario', (parts) => parts)
  const common = { path, shows: alone.shows ?? null, seed: alone.seed }
  if (variants === undefined) return { ...common, variants: [alone] }
  if (!Array.isArray(variants) || variants.length === 0) return fail(['variants'], 'is a list of at least one variant')
  const names = new Set<string>()
  const merged = variants.map((variant: unknown, i): Scenario => {
    const at = ['variants', i]
    if (typeof variant !== 'object' || variant === null || Array.isArray(variant)) return fail(at, 'is a map of settings')
    const { name } = variant as { name?: unknown }
    if (typeof name !== 'string' || name === '') return fail([...at, 'name'], name === undefined ? 'is missing' : 'is a text')
    if (names.has(name)) return fail([...at, 'name'], `${JSON.stringify(name)} is the name of another variant`)
    names.add(name)
    for (const fixed of ['version', 'variants']) if (fixed in variant) return fail([...at, fixed], 'cannot be varied')
    const { value, originOf } = mergeVariant(base, variant as Record<string, unknown>, at)
    return check(value, name, originOf)
  })
  return { ...common, variants: merged }
}

function valueAt(source: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, part) => (value === null || value === undefined ? undefined : (value as Record<PropertyKey, unknown>)[part]),
    source,
  )
}

const sentence = (text: string): string => text.split('\n')[0]!.replace(/\.$/, '')
