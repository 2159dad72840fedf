/**
 * The page of behaviours by version: the table of @shardlab/sharding, one section per topic file.
 */
import { behaviourTable, emulatedVersions, type BehaviourRow, type EmulatedVersion } from '@shardlab/sharding'
import type { Repository } from './model/repository.js'
import { cell } from './markdown.js'

const prose = (text: string): string => cell(text).replaceAll('<', '\\<')

type Rows = Readonly<Record<string, Omit<BehaviourRow<unknown>, 'name'>>>

export interface Topic {
  readonly title: string
  /** The first comment of the file. */
  readonly about: string
  /** In the order of the file. */
  readonly names: readonly string[]
}

const topicsFolder = 'packages/sharding/src/behaviours/topics/'

/** @param notice the line that says that the page is generated */
export function behavioursPage(notice: string, topics: readonly Topic[], table: Rows = behaviourTable): string {
  return [
    notice,
    '',
    '# Behaviours by version',
    '',
    `The option \`emulate\` chooses the server version: ${emulatedVersions.join(', ')}.`,
    'Each is the last patch release of its series; 6.0.2 is also the last release with auto-split. The',
    'table lists all behaviours that differ between versions. Code asks for a behaviour by its name and',
    'never compares versions.',
    '',
    ...topics.flatMap((topic) => topicSection(topic, table)),
  ].join('\n')
}

/** The topics in order of their titles. */
export function behaviourTopics(repository: Repository): Topic[] {
  return [...repository.files]
    .filter(([path]) => path.startsWith(topicsFolder))
    .map(([path, { text }]) => {
      const name = path.slice(topicsFolder.length, -'.ts'.length).replaceAll('-', ' ')
      return {
        title: name[0]!.toUpperCase() + name.slice(1),
        about: /^\/\*\*\s*(.*?)\s*\*\//s.exec(text)?.[1]?.replaceAll(/\s*\n\s*\*\s*/g, ' ') ?? '',
        names: [...text.matchAll(/^ {2}(\w+): row\b/gm)].map((match) => match[1]!),
      }
    })
    .sort((a, b) => (a.title < b.title ? -1 : 1))
}

function topicSection({ title, about, names }: Topic, table: Rows): string[] {
  return [
    `## ${title}`,
    '',
    ...(about === '' ? [] : [about, '']),
    '| behaviour | meaning | values by version | source |',
    '| --- | --- | --- | --- |',
    ...names.map((name) => {
      const { about: decided, values, source } = table[name]!
      return `| \`${name}\` | ${prose(decided)} | ${prose(valuesText(values))} | ${prose(source)} |`
    }),
    '',
  ]
}

/** `2.6 to 4.0: no; 4.4 to 8.0: yes` */
export function valuesText(values: readonly (readonly [from: EmulatedVersion, value: unknown])[]): string {
  return values
    .map(([from, value], i) => {
      const next = values[i + 1]?.[0]
      const last = next === undefined ? emulatedVersions.at(-1)! : emulatedVersions[emulatedVersions.indexOf(next) - 1]!
      return `${from === last ? from : `${from} to ${last}`}: ${valueText(value)}`
    })
    .join('; ')
}

function valueText(value: unknown): string {
  if (value === true) return 'yes'
  if (value === false) return 'no'
  if (value === null) return 'none'
  return typeof value === 'string' || typeof value === 'number' ? `\`${value}\`` : `\`${JSON.stringify(value)}\``
}
