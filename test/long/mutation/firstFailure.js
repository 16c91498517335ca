const Environment = require('../../engine/environment');

const FAILURES = new Set(['test_fn_failure', 'hook_failure']);

/** Skips the rest of a test file after its first failure, which is enough to detect a mutant. */
module.exports = class FirstFailure extends Environment {
	#hasFailed = false;

	async handleTestEvent({ name, test }) {
		// The environments of earlier files get these events, too, because all share one realm.
		if (name === 'run_start') this.#hasFailed = false;
		if (name === 'test_start' && this.#hasFailed) test.mode = 'skip';
		// If beforeAll fails, its tests fail without an event of their own.
		if (FAILURES.has(name) && test !== undefined) this.#hasFailed = true;
	}
};
