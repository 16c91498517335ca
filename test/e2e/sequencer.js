const { default: Sequencer } = require('@jest/test-sequencer');
const sortBy = require('lodash/sortBy');

/** They take minutes. */
const FIRST = ['browser/editor', 'e2e/killed'];
const placeOf = ({ path }) => {
	const place = FIRST.findIndex((name) => path.endsWith(`/${name}.test.ts`));
	return place < 0 ? FIRST.length : place;
};

/** Starts the longest files first, so that no worker ends much later than the others. */
module.exports = class extends Sequencer {
	sort(tests) {
		return sortBy(super.sort(tests), placeOf);
	}
};
