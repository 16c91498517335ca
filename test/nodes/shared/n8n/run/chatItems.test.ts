import { KeyedQueue } from '../../../../../nodes/shared/n8n/run/chatItems';
import { NotSent } from '../../../../../nodes/shared/api/errors';

/** A job that the test ends. */
function job() {
	let end: () => void = () => {};
	const ended = new Promise<void>((resolve) => {
		end = resolve;
	});
	return { ended, end };
}

const failing = async () => await Promise.reject(new Error('rejected'));

test('jobs with the same key run one after another, and others do not wait', async () => {
	const order = new KeyedQueue(false);
	const seen: string[] = [];
	const first = job();
	const a1 = order.run('a', async () => {
		await first.ended;
		seen.push('a1');
	});
	const a2 = order.run('a', async () => await Promise.resolve(seen.push('a2')));
	await order.run('b', async () => await Promise.resolve(seen.push('b1')));
	expect(seen).toEqual(['b1']);
	first.end();
	await Promise.all([a1, a2]);
	expect(seen).toEqual(['b1', 'a1', 'a2']);
});

test('jobs after a failed one are not started, and say so', async () => {
	const order = new KeyedQueue(false);
	const began = jest.fn(async () => await Promise.resolve());
	const results = await Promise.allSettled([
		order.run('a', failing),
		order.run('a', began),
		order.run('a', began),
		order.run('b', began),
	]);
	expect(results.map(({ status }) => status)).toEqual([
		'rejected',
		'rejected',
		'rejected',
		'fulfilled',
	]);
	expect(results[1]).toMatchObject({ reason: expect.any(NotSent) });
	expect(began).toHaveBeenCalledTimes(1);
});

test('with Continue On Fail, the jobs after it run', async () => {
	const order = new KeyedQueue(true);
	await expect(order.run('a', failing)).rejects.toThrow('rejected');
	expect(await order.run('a', async () => await Promise.resolve('done'))).toBe('done');
});
