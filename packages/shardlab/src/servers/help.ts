import { optionsOf, type OptionEffect, type ServerName, type ServerOption } from './option-table.js'

/** Tools such as mlaunch read which options there are. */
export function helpOf(server: ServerName): string {
  const options = optionsOf(server).filter(({ name }) => name !== '')
  const section = (title: string, effect: OptionEffect): string =>
    `${title}:\n${options
      .filter((option) => option.effect === effect)
      .map(lineOf)
      .join('')}\n`
  return `Stands in for ${server}: an emulator${server === 'mongod' ? ', which keeps its data in the directory of --dbpath' : ''}.
The environment variable SHARDLAB_EMULATE sets the version, such as 6.0 (default: 7.0).

${section('Options', 'used')}${section('Accepted without effect', 'accepted')}${section('Not emulated, refused', 'refused')}`
}

function lineOf({ name, short, type }: ServerOption): string {
  const names = short === undefined ? `--${name}` : `-${short} [ --${name} ]`
  return `  ${names}${type === 'switch' ? '' : ' arg'}\n`
}
