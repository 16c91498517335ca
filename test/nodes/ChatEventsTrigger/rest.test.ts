import { restMs } from '../../../nodes/ChatEventsTrigger/rest';

test('a session rests for 1, 2, 4, 8 and then 15 minutes each time', () => {
	const minutes = [1, 2, 3, 4, 5, 6, 1_000].map((giveUps) => restMs(giveUps) / 60_000);
	expect(minutes).toEqual([1, 2, 4, 8, 15, 15, 15]);
});
