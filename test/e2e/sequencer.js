const { default: Sequencer } = require('@jest/test-sequencer');

/** They take minutes. */
const FIRST = ['browser/editor', 'e2e/killed'];
const placeOf = ({ path }) => FIRST.findIndex((name) => path.endsWith(`/${name}.test.ts`));

/** Starts the longest files first, so that no worker ends much later than the others. */
module.exports = class extends Sequencer {
	sort(tests) {
		const [later, first] = [super.sort(tests), tests.filter((one) => placeOf(one) >= 0)];
		first.sort((one, other) => placeOf(one) - placeOf(other));
		return [...first, ...later.filter((one) => !first.includes(one))];
	}
};
