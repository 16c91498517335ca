import { setImmediate } from 'node:timers/promises';
import { ItemRows, type RowSource } from '../../../../nodes/PushCampaignContacts/push/rows';
import { clientOf } from '../../shared/api/clientOf';
import { InvalidInput } from '../../../../nodes/shared/api/errors';
import { forEveryone } from '../../../../nodes/shared/api/resolution';
import { TransportFault, type ServiceRequest } from '../../../../nodes/shared/api/http';
import {
	accept,
	contactItems,
	phone,
	phonesOf,
	push,
	reset,
	scripted,
	statuses,
	type Script,
} from './scripted';

/** A push whose reads and requests are recorded when they begin and end. */
function watched(
	count: number,
	{ script = accept, broken }: { script?: Script; broken?: number } = {},
) {
	const events: string[] = [];
	const items = new ItemRows(contactItems(count), async () => {});
	const source: RowSource = {
		count,
		yieldToEventLoop: async () => {},
		names: items.names,
		columns: async () => await items.columns(),
		each: async (visit) => await items.each(visit),
		pick: async (rows, visit) => {
			if (rows.length === 0) return;
			events.push(`read ${rows.join(' ')}`);
			await setImmediate();
			if (broken !== undefined && rows.includes(broken)) {
				events.push(`not read ${rows.join(' ')}`);
				throw new InvalidInput('The file is gone', forEveryone('Look for it.'));
			}
			await items.pick(rows, visit);
			events.push(`has read ${rows.join(' ')}`);
		},
	};
	const { options } = scripted(accept);
	let requests = 0;
	const transport = async (sent: ServiceRequest) => {
		const request = ++requests;
		events.push(`request ${request}`);
		for (let turn = 0; turn < 5; turn++) await setImmediate();
		events.push(`answer ${request}`);
		const answer = script(phonesOf(sent), request);
		if (answer instanceof TransportFault) throw answer;
		return answer;
	};
	const client = clientOf(transport);
	return { events, source, options: { ...options, client, contactsPerRequest: 2 } };
}

test('reads only the rows of the next request while a request is in flight', async () => {
	const { events, source, options } = watched(5);
	const outcome = await push(source, options);
	expect(events).toEqual([
		...['read 0 1', 'has read 0 1'],
		...['request 1', 'read 2 3', 'has read 2 3', 'answer 1'],
		...['request 2', 'read 4', 'has read 4', 'answer 2'],
		...['request 3', 'answer 3'],
	]);
	expect(outcome.pushed.map(({ rows }) => [...rows])).toEqual([[0, 1], [2, 3], [4]]);
});

test('unreadable rows stop the push at their own request, not the one in flight', async () => {
	const { events, source, options } = watched(6, { broken: 3 });
	const outcome = await push(source, options);
	expect(events).toContain('answer 1');
	expect(events).not.toContain('request 2');
	expect(outcome.pushed.map(({ rows }) => [...rows])).toEqual([[0, 1]]);
	expect(outcome.stopped?.message).toBe('The file is gone');
	expect(
		Array.from(outcome.rejectedRows, ({ index, status, reason }) => [index, status, reason]),
	).toEqual([2, 3, 4, 5].map((index) => [index, 'not_sent', 'The file is gone. Look for it.']));
});

test('an unknown outcome stops the push, despite prefetched rows', async () => {
	for (const broken of [undefined, 3]) {
		const over = broken === undefined ? {} : { broken };
		const { source, options } = watched(5, { script: () => reset, ...over });
		const outcome = await push(source, options);
		expect(outcome.stopped?.outcome).toBe('unknown');
		expect(statuses(outcome)).toEqual([
			'0 unknown',
			'1 unknown',
			'2 not_sent',
			'3 not_sent',
			'4 not_sent',
		]);
	}
});

test('stopping the execution sends no prefetched rows', async () => {
	const { events, source, options } = watched(5);
	const stopRequested = () => events.includes('request 1');
	const outcome = await push(source, { ...options, stopRequested });
	expect(events).toContain('has read 2 3');
	expect(events).not.toContain('request 2');
	expect(statuses(outcome)).toEqual(['2 not_sent', '3 not_sent', '4 not_sent']);
	expect(outcome.stopped?.message).toMatch(/^The execution was stopped/);
});

test('reads nothing after the push has ended', async () => {
	const { events, source, options } = watched(4);
	const transport = async () => {
		events.push('request');
		throw new TransportFault('ECONNRESET', 'ECONNRESET');
	};
	const client = clientOf(transport);
	await push(source, { ...options, client });
	expect(events).toEqual(['read 0 1', 'has read 0 1', 'request', 'read 2 3', 'has read 2 3']);
});

test('reads prefetched rows again if the request size changed', async () => {
	const { events, source, options } = watched(7, {
		script: (phones, request) =>
			request === 1 ? { status: 413, headers: {}, text: '' } : accept(phones, request),
	});
	const outcome = await push(source, options);
	expect(outcome.pushed.map(({ rows }) => [...rows])).toEqual([[0], [1], [2], [3], [4], [5], [6]]);
	expect(events.filter((event) => event.startsWith('read'))).toEqual([
		...['read 0 1', 'read 2 3'],
		...['read 2', 'read 3', 'read 4', 'read 5', 'read 6'],
	]);
});

test('does not prefetch numbers that must be reserved first', async () => {
	const { events, source, options } = watched(4);
	const held = new Set<string>();
	const store = {
		add: async (keys: string[]) => {
			const fresh = keys.filter((key) => !held.has(key));
			for (const key of fresh) held.add(key);
			return fresh;
		},
		remove: async () => {},
		clear: async () => {},
		count: async () => held.size,
	};
	await push(source, { ...options, pushedNumbers: store });
	expect(events.indexOf('answer 1')).toBeLessThan(events.indexOf('read 2 3'));
	expect([...held].some((key) => key.endsWith(phone(3)))).toBe(true);
});
