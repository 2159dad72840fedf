import { OptionError } from '@shardlab/cluster'
import { YamlFile, type SettingPath } from '@shardlab/load/basics'
import { dataSetsOf, streamsOf, type DataSet, type Stream } from './application.js'
import { parseExpectation } from './expectation.js'
import { withFilesFound } from './file-paths.js'
import { mergeVariant } from './merge.js'
import { brokenRule } from './rules.js'
import { scenarioSchema, type ScenarioSource } from './schema.js'
import { keyDependentMixes, settingsWithoutEffect, zonesThatEndBelowTheTop } from './warnings.js'

/** All defaults are filled in: times in milliseconds, sizes in bytes, rates per second. */
export interface Scenario extends Omit<ScenarioSource, 'data' | 'workload'> {
  readonly name: string
  readonly data: readonly DataSet[]
  readonly workload: readonly Stream[]
}

/** `variants` contains the scenario itself if it has no variants. */
export interface ScenarioFile {
  readonly path: string
  readonly shows: string | null
  /** The comment at the top of the file; null: none. */
  readonly about: string | null
  readonly seed: number
  readonly variants: readonly Scenario[]
  /** Settings without effect, with file and line. */
  readonly warnings: readonly string[]
}

type Settings = Record<string, unknown>
type OriginOf = (path: SettingPath) => SettingPath

/** Settings of one variant, before they are checked. */
interface Draft {
  /** null: the file has no variants. */
  readonly name: string | null
  readonly value: Settings
  readonly originOf: OriginOf
}

/**
 * Reads which files the scenario names exist, and nothing else.
 * @param path of the file; paths in it are relative to its folder
 * @throws OptionError with file, line and rule
 */
export function parseScenario(text: string, path: string): ScenarioFile {
  const yaml = new YamlFile(text, { path, whole: 'the scenario', Problem: OptionError })
  const source = yaml.value
  if (typeof source !== 'object' || source === null || Array.isArray(source))
    return yaml.fail([], 'must be a map of settings')
  const drafts = draftsOf(yaml, source as Settings)
  const sources = checkedDrafts(yaml, path, drafts)
  const variants = sources.map((each, i): Scenario => {
    const { name } = drafts[i]!
    return { ...each, data: dataSetsOf(each), workload: streamsOf(each), name: name ?? 'scenario' }
  })
  const { shows = null, seed } = sources[0]!
  const about = openingComment(text)
  return { path, shows, about, seed, variants, warnings: warningsOf(yaml, drafts, sources) }
}

function draftsOf(yaml: YamlFile, source: Settings): Draft[] {
  const { variants, ...base } = source
  if (variants === undefined) return [{ name: null, value: base, originOf: (path) => path }]
  if (!Array.isArray(variants) || variants.length === 0)
    return yaml.fail(['variants'], 'must be a list of at least one variant')
  const names = new Set<string>()
  return variants.map((variant: unknown, i): Draft => {
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
    const { value, originOf } = mergeVariant(base, variant as Settings, at)
    return { name, value, originOf }
  })
}

/** An error that not all variants have names its variant. */
function checkedDrafts(yaml: YamlFile, path: string, drafts: readonly Draft[]): ScenarioSource[] {
  const outcomes = drafts.map((draft): ScenarioSource | OptionError => {
    try {
      return checked(yaml, path, draft)
    } catch (error) {
      if (error instanceof OptionError) return error
      throw error
    }
  })
  const isError = (outcome: ScenarioSource | OptionError): outcome is OptionError => outcome instanceof OptionError
  const failed = outcomes.findIndex(isError)
  if (failed === -1) return outcomes as ScenarioSource[]
  const { message } = outcomes[failed] as OptionError
  const isCommon = outcomes.every((each) => isError(each) && each.message === message)
  throw new OptionError(isCommon ? message : `${message} (variant ${JSON.stringify(drafts[failed]!.name)})`)
}

function checked(yaml: YamlFile, path: string, { value, originOf }: Draft): ScenarioSource {
  const scenario = yaml.checked(scenarioSchema, value, originOf)
  const rule = brokenRule(scenario)
  if (rule !== null) return yaml.fail(originOf(rule.path), rule.message)
  for (const [i, text] of scenario.expect.entries()) {
    const problem = parseExpectation(text)
    if (typeof problem === 'string') return yaml.fail(originOf(['expect', i]), problem)
  }
  return withFilesFound(scenario, path, (setting, message) => yaml.fail(originOf(setting), message))
}

/** A setting of the scenario that has an effect in one of its variants is useful. */
function warningsOf(yaml: YamlFile, drafts: readonly Draft[], sources: readonly ScenarioSource[]): string[] {
  const counts = new Map<string, number>()
  for (const [i, source] of sources.entries()) {
    const { originOf } = drafts[i]!
    for (const { path, message } of [...settingsWithoutEffect(source), ...zonesThatEndBelowTheTop(source)]) {
      const origin = originOf(path)
      const text = yaml.message(origin, message)
      const inVariant = origin[0] === 'variants' ? sources.length : 1
      counts.set(text, (counts.get(text) ?? 0) + inVariant)
    }
  }
  const warnings = [...counts].filter(([, count]) => count >= sources.length).map(([text]) => text)
  const named = drafts.map(({ name }, i) => ({ name, source: sources[i]! }))
  for (const { path, message } of keyDependentMixes(named)) warnings.push(yaml.message(path, message))
  return warnings
}

function openingComment(text: string): string | null {
  const [comment] = /^(?:#.*(?:\r?\n|$))+/.exec(text) ?? []
  return comment?.replace(/^# ?/gm, '').trim().replace(/\s+/g, ' ') ?? null
}
