/** The page of the query language by version: the tables of packages/query/src/language. */
import { historiesOf, isPresentIn, languageFeatures, languageRules, type FeatureGroup } from '@shardlab/query'
import { behavioursOf, emulatedVersions } from '@shardlab/sharding'
import { cell, wrapped } from './markdown.js'

export function languagePage(notice: string): string {
  return [
    notice,
    '',
    '# The query language by version',
    '',
    'Each emulated version has its own operators, stages, index types, options and fields of commands,',
    'and refuses all others with its own error. The tables list the features that Shardlab knows and the',
    'versions that have them; `since` is the release that introduced the feature.',
    '[Compatibility](compatibility.md) says how completely each is supported.',
    '',
    ...Object.values(languageFeatures).flatMap(groupSection),
    ...rulesSection(),
  ].join('\n')
}

const heading = (first: readonly string[], columns: readonly string[]): string[] => [
  `| ${[...first, ...columns].join(' | ')} |`,
  `| ${[...first, ...columns].map(() => '---').join(' | ')} |`,
]

function groupSection(group: FeatureGroup): string[] {
  return [
    `## ${group.title}`,
    '',
    ...wrapped(`${group.about} Source: ${group.source}.`),
    '',
    ...heading(['feature', 'since'], emulatedVersions),
    ...[...historiesOf(group)].map(([name, history]) => {
      const since = history[0]!.release
      const present = emulatedVersions.map((version) =>
        isPresentIn(history, behavioursOf(version).serverVersion) ? 'yes' : '',
      )
      return `| ${[`\`${cell(name)}\``, since, ...present].join(' | ')} |`
    }),
    '',
  ]
}

function rulesSection(): string[] {
  return [
    '## Rules',
    '',
    '| rule | meaning | values since | source |',
    '| --- | --- | --- | --- |',
    ...Object.entries(languageRules).map(([name, { about, values, source }]) => {
      const texts = values.map(([from, value]) => `${from}: ${valueText(value)}`).join('; ')
      return `| \`${name}\` | ${cell(about)} | ${cell(texts)} | ${cell(source)} |`
    }),
    '',
  ]
}

function valueText(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return `\`${JSON.stringify(value)}\``
}
