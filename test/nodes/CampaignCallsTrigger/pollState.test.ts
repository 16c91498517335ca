import range from 'lodash/range';
import { restoreState, storedState } from '../../../nodes/CampaignCallsTrigger/pollState';

test('250,000 outcomes are stored, and with one more, the check fails', () => {
	const scope = { subject: 'campaign', start: 'publication' };
	const state = restoreState({}, scope);
	for (const one of range(250_000)) state.seen.passed.add(`${one}`);
	const stored = storedState(state, scope);
	expect(restoreState(stored, scope).seen.passed).toEqual(state.seen.passed);
	state.seen.ignored.add('0');
	expect(() => storedState(state, scope)).toThrow(
		/^The trigger can't remember the outcomes of more calls$/,
	);
});
