import { clock } from '../../nodes/shared/n8n/connect';

/** From now on each sleep of the nodes is over at once, and its time has passed; until mocks are restored. */
export function skipSleeps(): void {
	let time = Date.now();
	jest.spyOn(clock, 'now').mockImplementation(() => time);
	jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
		time += ms;
		await new Promise((resolve) => setImmediate(resolve));
	});
}
