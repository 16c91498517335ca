import { OutcomeUnknown } from '../../../../../nodes/shared/api/errors';
import { forEveryone } from '../../../../../nodes/shared/api/modelAdvice';
import type { Limiter } from '../../../../../nodes/shared/keyedMutex';
import { IdempotencyHandler } from '../../../../../nodes/shared/n8n/idempotency/handler';
import { engineHarness, mcpContext } from '../../../../engine';
import { CALL } from '../../../PlaceCall/placeCallHarness';

const harness = engineHarness();
const atOnce: Limiter = async (job) => await job();

/** A long session of an MCP client: makes wishes, and counts those that are sent. */
function aSession(name: string) {
	const context = mcpContext(
		harness.credentials,
		harness.node('placeCall', { parameters: CALL }),
		name,
	);
	const ledger = new IdempotencyHandler(context, async () => await Promise.resolve());
	const sent: string[] = [];
	const wish = async (request: string, fate: 'done' | 'unknown' = 'done', repeatable = false) => {
		const send = async () => {
			sent.push(request);
			if (fate === 'unknown') throw new OutcomeUnknown('It broke', forEveryone('Look.'));
			return await Promise.resolve([{ json: {} }]);
		};
		await ledger.run({ payload: request, send, repeatable }, atOnce, 0).catch(() => {});
	};
	const wishMany = async (kind: string, count: number, fate?: 'unknown') => {
		for (let nth = 0; nth < count; nth++) await wish(`${kind} ${nth}`, fate);
	};
	const sayMany = async (count: number) => {
		sent.length = 0;
		for (let nth = 0; nth < count; nth++) await wish(`said ${nth}`, 'done', true);
		return sent.length;
	};
	const sentAgain = async (...requests: string[]) => {
		sent.length = 0;
		for (const request of requests) await wish(request);
		return [...sent];
	};
	return { wishMany, sayMany, sentAgain };
}

test('what may have been done is known however much is done after it, of which the newest is known', async () => {
	const { wishMany, sentAgain } = aSession('much done');
	await wishMany('unknown', 2, 'unknown');
	await wishMany('done', 1_001);
	expect(await sentAgain('unknown 0', 'unknown 1', 'done 1', 'done 1000')).toEqual([]);
	expect(await sentAgain('done 0')).toEqual(['done 0']);
});

test('what is done is known however much is open after it, of which the newest is known', async () => {
	const { wishMany, sentAgain } = aSession('much open');
	await wishMany('done', 2);
	await wishMany('unknown', 1_001, 'unknown');
	expect(await sentAgain('done 0', 'done 1', 'unknown 1', 'unknown 1000')).toEqual([]);
	expect(await sentAgain('unknown 0')).toEqual(['unknown 0']);
});

test('what may be said twice is said each time, with a thousand others in between', async () => {
	const { sayMany } = aSession('much said');
	expect([await sayMany(1_000), await sayMany(1), await sayMany(1)]).toEqual([1_000, 1, 1]);
});
