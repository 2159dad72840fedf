import { dirname, resolve } from 'node:path'
import { OptionError } from '@shardlab/cluster'
import { YamlFile, type SettingPath } from '@shardlab/load'
import { parseExpectation } from './expectation.js'
import { mergeVariant } from './merge.js'
import { brokenRule, type BrokenRule } from './rules.js'
import { scenarioSchema, type ScenarioSource } from './schema.js'

/** All defaults are filled in: times in milliseconds, sizes in bytes, rates per second. */
export interface Scenario extends ScenarioSource {
  readonly name: string
}

/** `variants` contains the scenario itself if it has no variants. */
export interface ScenarioFile {
  readonly path: string
  readonly shows: string | null
  /** The comment at the top of the file; null: none. */
  readonly about: string | null
  readonly seed: number
  readonly variants: readonly Scenario[]
}

/**
 * @param path name of the file in errors
 * @throws OptionError with file, line and rule
 */
export function parseScenario(text: string, path: string): ScenarioFile {
  const yaml = new YamlFile(text, { path, whole: 'the scenario', Problem: OptionError })
  const source = yaml.value
  if (typeof source !== 'object' || source === null || Array.isArray(source))
    return yaml.fail([], 'must be a map of settings')
  const { variants, ...base } = source as Record<string, unknown>

  const check = (
    value: Record<string, unknown>,
    name: string,
    originOf: (path: SettingPath) => SettingPath,
  ): Scenario => {
    const scenario = yaml.checked(scenarioSchema, value, originOf)
    const rule: BrokenRule | null = brokenRule(scenario)
    if (rule !== null) return yaml.fail(originOf(rule.path), rule.message)
    for (const [i, text] of scenario.expect.entries()) {
      const problem = parseExpectation(text)
      if (typeof problem === 'string') return yaml.fail(originOf(['expect', i]), problem)
    }
    const policy = scenario.policy === undefined ? {} : { policy: resolve(dirname(path), scenario.policy) }
    return { ...scenario, ...policy, name }
  }
  const alone = check(base, 'scenario', (parts) => parts)
  const common = { path, shows: alone.shows ?? null, about: openingComment(text), seed: alone.seed }
  if (variants === undefined) return { ...common, variants: [alone] }
  if (!Array.isArray(variants) || variants.length === 0)
    return yaml.fail(['variants'], 'must be a list of at least one variant')
  const names = new Set<string>()
  const merged = variants.map((variant: unknown, i): Scenario => {
    const at = ['variants', i]
    if (typeof variant !== 'object' || variant === null || Array.isArray(variant))
      return yaml.fail(at, 'must be a map of settings')
    const { name } = variant as { name?: unknown }
    if (typeof name !== 'string' || name === '')
      return yaml.fail([...at, 'name'], name === undefined ? 'is missing' : 'must be a text')
    if (names.has(name))
      return yaml.fail([...at, 'name'], `${JSON.stringify(name)} is already the name of another variant`)
    names.add(name)
    for (const fixed of ['version', 'variants'])
      if (fixed in variant) return yaml.fail([...at, fixed], 'must not be set in a variant')
    const { value, originOf } = mergeVariant(base, variant as Record<string, unknown>, at)
    return check(value, name, originOf)
  })
  return { ...common, variants: merged }
}

function openingComment(text: string): string | null {
  const [comment] = /^(?:#.*(?:\r?\n|$))+/.exec(text) ?? []
  return comment?.replace(/^# ?/gm, '').trim().replace(/\s+/g, ' ') ?? null
}
