/** To load msgpackr's addon takes longer than it ever saves here: control messages are short. */
export const withoutNativeUnpacking = {
  name: 'without-native-unpacking',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^msgpackr-extract$/ }, ({ path }) => ({ path, namespace: 'missing' }))
    onLoad({ filter: /./, namespace: 'missing' }, () => ({ contents: "throw new Error('not bundled')" }))
  },
}
