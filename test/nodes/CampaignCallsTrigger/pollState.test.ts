import range from 'lodash/range';
import { restoreState, storedState } from '../../../nodes/CampaignCallsTrigger/pollState';

test('250,000 fingerprints of outcomes are stored, and with one more, the check fails without a figure of outcomes', () => {
	const scope = { subject: 'campaign', start: 'publication', settings: 'all' };
	const state = restoreState({}, scope);
	for (const one of range(250_000)) state.seen.passed.add(BigInt(one));
	const stored = storedState(state, scope);
	expect(restoreState(stored, scope).seen.passed).toEqual(state.seen.passed);
	// An outcome has two of them if the call list shows less than the record.
	state.seen.excluded.add(0n);
	expect(() => storedState(state, scope)).toThrow(
		/^The trigger can't remember the outcomes of more calls$/,
	);
});
