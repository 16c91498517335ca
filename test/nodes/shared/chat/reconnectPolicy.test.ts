import { TRANSIENT_CODES, ReconnectPolicy } from '../../../../nodes/shared/chat/reconnectPolicy';
import type { AttemptEnd, PolicyNeeds } from '../../../../nodes/shared/chat/reconnectPolicy';
import type { SocketEnd } from '../../../../nodes/shared/chat/managedSocket';

const policyOf = (needs: PolicyNeeds) => new ReconnectPolicy(() => needs);
const LIMITS = { reconnectAttempts: 6, slowPolls: 3 };

function ended(end: Partial<SocketEnd>, claimed = false): AttemptEnd {
	return {
		kind: 'socket',
		end: { cause: 'closed', code: null, reason: '', openForMs: 100, ...end },
		claimed,
	};
}

const closed = (code: number, openForMs = 100, claimed = false) =>
	ended({ code, openForMs }, claimed);

const backoff = (attempt: number, token: 'keep' | 'new') => ({
	kind: 'reconnect',
	token,
	wait: { kind: 'backoff', attempt },
});

const slowPoll = { kind: 'reconnect', token: 'new', wait: { kind: 'slow_poll' } };

describe('ReconnectPolicy', () => {
	it.each<[string, AttemptEnd, object]>([
		['4401', closed(4401), backoff(1, 'new')],
		['1008', closed(1008), backoff(1, 'new')],
		['1003', closed(1003), { kind: 'give_up', why: 'client_bug' }],
		...[...TRANSIENT_CODES].map((code): [string, AttemptEnd, object] => [
			String(code),
			closed(code),
			backoff(1, 'keep'),
		]),
		['an undocumented code', closed(4999), backoff(1, 'new')],
		['1002', closed(1002), backoff(1, 'new')],
		['no connection', ended({ cause: 'cannot_connect', openForMs: null }), backoff(1, 'keep')],
		['no response', ended({ cause: 'connect_timeout', openForMs: null }), backoff(1, 'keep')],
		['a missing ack', ended({ cause: 'no_ack' }), backoff(1, 'keep')],
		['a missing ack, followed by 1008', ended({ cause: 'no_ack', code: 1008 }), backoff(1, 'keep')],
		[
			'a rotation',
			ended({ cause: 'rotated', code: 1000 }),
			{ kind: 'reconnect', token: 'keep', wait: { kind: 'none' } },
		],
		[
			'the end of the session',
			ended({ cause: 'session_closed', code: 1000 }),
			{ kind: 'give_up', why: 'session_closed' },
		],
	])('%s', (_name, attempt, step) => {
		expect(policyOf({ ...LIMITS, disconnectOther: false }).next(attempt)).toEqual(step);
	});

	it('treats 1000, 1001, 1005, 1006, and 1011 as transient', () => {
		for (const code of [1000, 1001, 1005, 1006, 1011]) expect(TRANSIENT_CODES.has(code)).toBe(true);
		for (const code of [1003, 1008, 4401]) expect(TRANSIENT_CODES.has(code)).toBe(false);
	});

	it.each([
		['session_closed', { kind: 'give_up', why: 'session_closed' }],
		['rejected', { kind: 'give_up', why: 'mint_rejected' }],
		['unreachable', backoff(1, 'new')],
	] as const)('a failed token request: %s', (kind, step) => {
		const attempt: AttemptEnd = { kind: 'mint', result: { kind, error: null } };
		expect(policyOf({ ...LIMITS, disconnectOther: false }).next(attempt)).toEqual(step);
	});

	it("gives up immediately if the URL can't be used", () => {
		const policy = policyOf({ ...LIMITS, disconnectOther: false });
		expect(policy.next({ kind: 'url', wsUrl: 'ws://h.example.com' })).toEqual({
			kind: 'give_up',
			why: 'bad_url',
		});
	});

	it.each([
		[1011, 'keep', 'unreachable'],
		[4401, 'new', 'token_rejected'],
	] as const)('gives up after 6 attempts in a row: %d', (code, token, why) => {
		const policy = policyOf({ ...LIMITS, disconnectOther: false });
		for (let attempt = 1; attempt <= 6; attempt += 1) {
			expect(policy.next(closed(code))).toEqual(backoff(attempt, token));
		}
		expect(policy.next(closed(code))).toEqual({ kind: 'give_up', why });
	});

	it('resets its counts after a healthy connection of 45 seconds', () => {
		const policy = policyOf({ ...LIMITS, disconnectOther: false });
		policy.next(closed(1006));
		expect(policy.next(closed(1006, 44_999))).toEqual(backoff(2, 'keep'));
		expect(policy.next(closed(1006, 45_000))).toEqual(backoff(1, 'keep'));
	});

	it('reconnects once after an undocumented code, then gives up', () => {
		const policy = policyOf({ ...LIMITS, disconnectOther: true });
		policy.next(closed(4409));
		expect(policy.claim).toBe(true);
		expect(policy.next(closed(4409))).toEqual({ kind: 'give_up', why: 'displaced' });
		const healthy = policyOf({ ...LIMITS, disconnectOther: true });
		healthy.next(closed(4409));
		expect(healthy.next(closed(4409, 45_000))).toEqual(backoff(1, 'new'));
	});

	describe('1008', () => {
		it('without Disconnect Other Connection: a quick attempt, slow polls, then an ending with both reasons', () => {
			const policy = policyOf({ ...LIMITS, disconnectOther: false });
			expect(policy.next(closed(1008))).toEqual(backoff(1, 'new'));
			for (let poll = 1; poll <= 3; poll += 1) {
				expect(policy.claim).toBe(false);
				expect(policy.next(closed(1008))).toEqual(slowPoll);
			}
			expect(policy.next(closed(1008))).toEqual({ kind: 'give_up', why: 'in_use_or_inactive' });
		});

		it('with Disconnect Other Connection: the same with a claim, then the inactive agent as the reason', () => {
			const policy = policyOf({ ...LIMITS, disconnectOther: true });
			expect(policy.next(closed(1008, 100, true))).toEqual(backoff(1, 'new'));
			for (let poll = 1; poll <= 3; poll += 1) {
				expect(policy.claim).toBe(true);
				expect(policy.next(closed(1008, 100, true))).toEqual(slowPoll);
			}
			expect(policy.next(closed(1008, 100, true))).toEqual({
				kind: 'give_up',
				why: 'agent_inactive',
			});
		});

		it('gives up after the quick attempt if slow polls are off', () => {
			const policy = policyOf({ reconnectAttempts: 6, slowPolls: 0, disconnectOther: false });
			expect(policy.next(closed(1008))).toEqual(backoff(1, 'new'));
			expect(policy.next(closed(1008))).toEqual({ kind: 'give_up', why: 'in_use_or_inactive' });
		});

		it('starts with a quick attempt again after a healthy connection', () => {
			const policy = policyOf({ ...LIMITS, disconnectOther: false });
			policy.next(closed(1008));
			expect(policy.next(closed(1008))).toEqual(slowPoll);
			expect(policy.next(closed(1008, 45_000))).toEqual(backoff(1, 'new'));
		});
	});

	describe('claim', () => {
		it('is never sent without Disconnect Other Connection', () => {
			const policy = policyOf({ ...LIMITS, disconnectOther: false });
			expect(policy.claim).toBe(false);
			policy.next(closed(1008));
			policy.next(closed(1006, 5_000));
			expect(policy.claim).toBe(false);
		});

		it('is sent until the first connection, and again only after a rejection', () => {
			const policy = policyOf({ ...LIMITS, disconnectOther: true });
			expect(policy.claim).toBe(true);
			policy.next(ended({ cause: 'cannot_connect', openForMs: null }, true));
			expect(policy.claim).toBe(true);
			policy.next(closed(1000, 5_000, true));
			expect(policy.claim).toBe(false);
			policy.next(closed(1008));
			expect(policy.claim).toBe(true);
		});

		it("doesn't let two clients with Disconnect Other Connection displace each other forever", () => {
			// Each connection is shorter than a slow poll before the other client takes over.
			const policy = policyOf({ ...LIMITS, disconnectOther: true });
			let rounds = 0;
			let step = policy.next(closed(1000, 20_000, true));
			while (step.kind === 'reconnect' && rounds < 100) {
				rounds += 1;
				step = policy.next(rounds % 2 === 1 ? closed(1008) : closed(1000, 20_000, true));
			}
			expect(step.kind).toBe('give_up');
			expect(rounds).toBeLessThan(15);
		});
	});
});
