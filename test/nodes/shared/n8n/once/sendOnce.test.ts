import { OutcomeUnknown } from '../../../../../nodes/shared/api/errors';
import { forEveryone } from '../../../../../nodes/shared/api/resolution';
import type { Limiter } from '../../../../../nodes/shared/keyedMutex';
import { SendOnce } from '../../../../../nodes/shared/n8n/once/sendOnce';
import { engineHarness, mcpContext } from '../../../../engine';
import { CALL } from '../../../PlaceCall/placeCallHarness';

const harness = engineHarness();
const atOnce: Limiter = async (job) => await job();

/** A long MCP session: makes tool requests, and counts those that are sent. */
function aSession(name: string) {
	const context = mcpContext(harness.node('placeCall', { parameters: CALL }), name);
	const ledger = new SendOnce(context, async () => await Promise.resolve());
	const sent: string[] = [];
	const toolRequest = async (
		request: string,
		outcome: 'done' | 'unknown' = 'done',
		repeatable = false,
	) => {
		const send = async () => {
			sent.push(request);
			if (outcome === 'unknown') throw new OutcomeUnknown('It broke', forEveryone('Look.'));
			return await Promise.resolve([{ json: {} }]);
		};
		const repeat = repeatable ? { modelMayRepeat: 'afterCompletion' as const } : {};
		await ledger
			.run({ payload: request, target: request, happened: () => '', send, ...repeat }, atOnce, 0)
			.catch(() => {});
	};
	const requestMany = async (kind: string, count: number, outcome?: 'unknown') => {
		for (let nth = 0; nth < count; nth++) await toolRequest(`${kind} ${nth}`, outcome);
	};
	const requestManyRepeatable = async (count: number) => {
		sent.length = 0;
		for (let nth = 0; nth < count; nth++) await toolRequest(`said ${nth}`, 'done', true);
		return sent.length;
	};
	const requestTogether = async (request: string) => {
		sent.length = 0;
		const both = [1, 2].map(async () => await toolRequest(request, 'done', true));
		await Promise.all(both);
		return [...sent];
	};
	const sentAgain = async (...requests: string[]) => {
		sent.length = 0;
		for (const request of requests) await toolRequest(request);
		return [...sent];
	};
	return { requestMany, requestManyRepeatable, requestTogether, sentAgain };
}

test('requests stay recorded after thousands of others, and the oldest one goes first', async () => {
	const { requestMany, sentAgain } = aSession('much done');
	await requestMany('unknown', 2, 'unknown');
	await requestMany('done', 4_998);
	expect(await sentAgain('unknown 0', 'unknown 1', 'done 0', 'done 4997')).toEqual([]);
	await requestMany('more', 1);
	expect(await sentAgain('unknown 1', 'done 0')).toEqual([]);
	expect(await sentAgain('unknown 0')).toEqual(['unknown 0']);
});

test('a repeatable request is sent each time, with a thousand others in between', async () => {
	const { requestManyRepeatable } = aSession('much said');
	expect([
		await requestManyRepeatable(1_000),
		await requestManyRepeatable(1),
		await requestManyRepeatable(1),
	]).toEqual([1_000, 1, 1]);
});

test('a repeatable request that comes again while it is in flight is sent once', async () => {
	const { requestTogether } = aSession('said twice');
	expect(await requestTogether('yes')).toEqual(['yes']);
	expect(await requestTogether('yes')).toEqual(['yes']);
});
