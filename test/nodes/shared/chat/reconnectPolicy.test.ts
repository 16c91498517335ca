import { NO_ERROR_BODY } from '../../../../nodes/shared/api/rejectionBody';
import { ServiceRejection } from '../../../../nodes/shared/api/errors';
import { forEveryone } from '../../../../nodes/shared/api/resolution';
import {
	ACTION_LIMITS,
	type AttemptEnd,
	ReconnectPolicy,
	type SocketEnd,
	TRANSIENT_CODES,
	TRIGGER_LIMITS,
} from '../../../../nodes/shared/chat/reconnectPolicy';

/** Without jitter. */
const policyOf = (limits = TRIGGER_LIMITS) => new ReconnectPolicy(limits, () => 0.5);

function ended(end: Partial<SocketEnd>, claimed = false): AttemptEnd {
	return {
		kind: 'socket',
		end: { cause: 'closed', code: null, reason: '', openForMs: 100, ...end },
		claimed,
	};
}

const closed = (code: number, openForMs = 100, claimed = false) =>
	ended({ code, openForMs }, claimed);

const retry = (seconds: number, token: 'keep' | 'new', why = 'unreachable') => ({
	kind: 'retry',
	why,
	afterMs: seconds * 1_000,
	token,
});

describe('ReconnectPolicy', () => {
	it.each<[string, AttemptEnd, object]>([
		['4401', closed(4401), retry(1, 'new', 'token_rejected')],
		['1008', closed(1008), retry(1, 'new', 'in_use_or_inactive')],
		['1003', closed(1003), { kind: 'end', why: 'client_bug' }],
		...[...TRANSIENT_CODES].map((code): [string, AttemptEnd, object] => [
			String(code),
			closed(code),
			retry(1, 'keep'),
		]),
		['an undocumented code', closed(4999), retry(1, 'new', 'displaced')],
		['1002', closed(1002), retry(1, 'new', 'displaced')],
		['no connection', ended({ cause: 'cannot_connect', openForMs: 0 }), retry(1, 'keep')],
		['no response', ended({ cause: 'connect_timeout', openForMs: 0 }), retry(1, 'keep')],
		['a missing ack', ended({ cause: 'no_ack' }), retry(1, 'keep')],
		['a missing ack, followed by 1008', ended({ cause: 'no_ack', code: 1008 }), retry(1, 'keep')],
		['a renewal', ended({ cause: 'renewed', code: 1000 }), retry(0, 'keep')],
		[
			'the end of the session',
			ended({ cause: 'session_closed', code: 1000 }),
			{ kind: 'end', why: 'session_closed' },
		],
	])('%s', (_name, attempt, step) => {
		expect(policyOf().next(attempt)).toEqual(step);
	});

	it('treats 1000, 1001, 1005, 1006, and 1011 as transient', () => {
		for (const code of [1000, 1001, 1005, 1006, 1011]) expect(TRANSIENT_CODES.has(code)).toBe(true);
		for (const code of [1003, 1008, 4401]) expect(TRANSIENT_CODES.has(code)).toBe(false);
	});

	const rejection = (status: number) =>
		new ServiceRejection('no', forEveryone('Check it.'), '', status, NO_ERROR_BODY);

	it.each<[string, AttemptEnd, object]>([
		[
			'session_closed',
			{ kind: 'mint', result: { kind: 'session_closed', error: null } },
			{ kind: 'end', why: 'session_closed' },
		],
		[
			'rejected',
			{ kind: 'mint', result: { kind: 'rejected', error: rejection(403) } },
			{ kind: 'end', why: 'mint_rejected' },
		],
		[
			'rejected API token, which may be accepted again later',
			{ kind: 'mint', result: { kind: 'rejected', error: rejection(401) } },
			{ kind: 'lost', why: 'mint_rejected' },
		],
		[
			'unreachable',
			{ kind: 'mint', result: { kind: 'unreachable', error: null } },
			retry(1, 'new'),
		],
	])('a failed token request: %s', (_name, attempt, step) => {
		expect(policyOf().next(attempt)).toEqual(step);
	});

	it("ends immediately if the URL can't be used", () => {
		const policy = policyOf();
		expect(policy.next({ kind: 'url', wsUrl: 'ws://h.example.com' })).toEqual({
			kind: 'end',
			why: 'bad_url',
		});
	});

	it.each([
		[1011, 'keep', 'unreachable'],
		[4401, 'new', 'token_rejected'],
	] as const)('is lost after 6 attempts in a row, then begins again: %d', (code, token, why) => {
		const policy = policyOf();
		for (const seconds of [1, 2, 4, 8, 16, 30]) {
			expect(policy.next(closed(code))).toEqual(retry(seconds, token, why));
		}
		expect(policy.next(closed(code))).toEqual({ kind: 'lost', why });
		expect(policy.next(closed(code))).toEqual(retry(1, token, why));
	});

	it('of an action is lost after 4 attempts, and after the second 1008', () => {
		const policy = policyOf(ACTION_LIMITS);
		const kinds = [1006, 1006, 1006, 1006, 1006, 1008, 1008].map(
			(code) => policy.next(closed(code)).kind,
		);
		expect(kinds).toEqual(['retry', 'retry', 'retry', 'retry', 'lost', 'retry', 'lost']);
	});

	it('resets its counts after a healthy connection of 45 seconds', () => {
		const policy = policyOf();
		policy.next(closed(1006));
		expect(policy.next(closed(1006, 44_999))).toEqual(retry(2, 'keep'));
		expect(policy.next(closed(1006, 45_000))).toEqual(retry(1, 'keep'));
	});

	it('reconnects once after an undocumented code, then is lost', () => {
		const policy = policyOf();
		policy.next(closed(4409));
		expect(policy.next(closed(4409))).toEqual({ kind: 'lost', why: 'displaced' });
		const healthy = policyOf();
		healthy.next(closed(4409));
		expect(healthy.next(closed(4409, 45_000))).toEqual(retry(1, 'new', 'displaced'));
	});

	it.each([
		['without a claim: both reasons', false, 'in_use_or_inactive'],
		['with a claim: the inactive agent', true, 'agent_inactive'],
	] as const)(
		'1008 %s, after a quick attempt and 10 minutes of slow polls',
		(_name, claimed, why) => {
			const policy = policyOf();
			expect(policy.next(closed(1008, 100, claimed))).toEqual(retry(1, 'new', why));
			for (let poll = 1; poll <= 30; poll += 1) {
				expect(policy.next(closed(1008, 100, claimed))).toEqual(retry(20, 'new', why));
			}
			expect(policy.next(closed(1008, 100, claimed))).toEqual({ kind: 'lost', why });
		},
	);

	it('starts with a quick attempt again after 1008 and a healthy connection', () => {
		const policy = policyOf();
		policy.next(closed(1008));
		expect(policy.next(closed(1008))).toMatchObject({ afterMs: 20_000 });
		expect(policy.next(closed(1008, 45_000))).toMatchObject({ afterMs: 1_000 });
	});
});
