import { DateTime } from 'luxon';
import { MAX_REJECTED_ROWS } from '../../../../nodes/PushCampaignContacts/push/chunkSender';
import type { HttpResponse } from '../../../../nodes/shared/api/http';
import { RejectedRows } from '../../../../nodes/PushCampaignContacts/push/rejectedRows';
import {
	accept,
	contactsIn,
	contactItems,
	json,
	phone,
	push,
	reject,
	scripted,
	statuses,
} from './scripted';

describe('requests', () => {
	test('have at most 10,000 contacts, in order, one after another', async () => {
		const { requests, sent, options } = scripted(accept);
		const outcome = await push(20_001, options);
		expect(sent.map((phones) => phones.length)).toEqual([10_000, 10_000, 1]);
		expect(sent.flat()).toEqual(contactItems(20_001).map((item) => item.json.phone));
		expect(requests[0]).toMatchObject({ method: 'POST', path: '/v1/campaigns/42/contacts' });
		expect(requests[0]?.body).toMatchObject({ agent_uuid: 'agent_a', enqueue: false });
		expect(outcome.stopped).toBeUndefined();
		expect(outcome.pushed.map(({ response }) => response.campaign_upload_id)).toEqual([
			501, 502, 503,
		]);
	});

	test('have fewer contacts if set', async () => {
		const { sent, options } = scripted(accept);
		await push(5, { ...options, contactsPerRequest: 2 });
		expect(sent.map((phones) => phones.length)).toEqual([2, 2, 1]);
	});

	test('have additional fields, which cannot replace documented ones', async () => {
		const { requests, options } = scripted(accept);
		const body = { agent_uuid: 'agent_x', tag: 'spring', contacts: [{ phone: phone(9) }] };
		const additions = { body, query: { source: 'n8n' } };
		await push(1, { ...options, additions });
		expect(requests[0]?.body).toMatchObject({ agent_uuid: 'agent_a', tag: 'spring' });
		expect(requests[0]?.query).toEqual({ source: 'n8n' });
		expect(requests.map(contactsIn)).toEqual([[{ phone: phone(0) }]]);
	});

	const ring: { inner?: object } = {};
	ring.inner = ring;
	test.each([
		['a value that contains itself', ring],
		[
			'what fails when it is written',
			{
				toJSON: () => {
					throw new Error('broken');
				},
			},
		],
	])('stop at a row that contains %s, and report earlier rows', async (_name, cell) => {
		const { sent, options } = scripted(accept);
		const items = contactItems(6).map(({ json }, row) => ({
			json: row === 3 ? { ...json, cell } : json,
		}));
		const outcome = await push(items, { ...options, contactsPerRequest: 2 });
		expect(sent).toEqual([[phone(0), phone(1)]]);
		expect(outcome.pushed.map(({ rows }) => [...rows])).toEqual([[0, 1]]);
		expect(outcome.stopped?.message).toMatch(/^A cell of row 4 can't be converted to JSON \(.+\)/);
		expect(statuses(outcome)).toEqual(['2 not_sent', '3 not_sent', '4 not_sent', '5 not_sent']);
	});

	test('have dates, times, and unusual numbers as JSON', async () => {
		const { requests, options } = scripted(accept);
		const day = DateTime.fromISO('2026-11-21T10:00:00Z', { zone: 'utc' });
		const cells = {
			day,
			date: day.toJSDate(),
			none: NaN,
			zero: -0,
			half: '\ud800',
			own: { a: [day] },
		};
		await push([{ json: { phone: phone(0), ...cells } }], options);
		expect(requests.map(contactsIn)).toEqual([
			[JSON.parse(JSON.stringify({ phone: phone(0), ...cells }))],
		]);
	});

	test('are not sent if no row is left', async () => {
		const { sent, options } = scripted(accept);
		expect(await push(0, options)).toEqual({
			received: 0,
			pushed: [],
			rejectedRows: new RejectedRows(),
			enqueue: false,
		});
		expect(sent).toEqual([]);
	});
});

describe('rows that the service names', () => {
	test.each<[string, HttpResponse]>([
		['in error', reject('contacts[1].phone is invalid')],
		['in errors', json(400, { success: false, errors: ['contacts[1] has an invalid phone'] })],
		['at 422', json(422, { success: false, errors: ['contacts[ 1 ]: phone'] })],
	])('%s are rejected, and the others are sent again', async (_name, rejection) => {
		const { sent, options } = scripted((phones, request) =>
			phones.includes(phone(1)) ? rejection : accept(phones, request),
		);
		const outcome = await push(3, options);
		expect(sent).toEqual([[phone(0), phone(1), phone(2)], [phone(0)], [phone(1)], [phone(2)]]);
		expect(outcome.pushed.map(({ rows }) => [...rows])).toEqual([[0], [2]]);
		expect([...outcome.rejectedRows]).toEqual([
			{
				index: 1,
				status: 'rejected',
				reason: expect.stringMatching(/^The service rejected this row: contacts/),
			},
		]);
		expect(outcome.stopped).toBeUndefined();
	});

	test('are all rejected, each with its own text', async () => {
		const { sent, options } = scripted((phones, request) => {
			if (phones.length === 3) {
				return json(400, { success: false, errors: ['contacts[0] bad', 'contacts[2] worse'] });
			}
			if (phones.includes(phone(0))) return reject('contacts[0] bad');
			return phones.includes(phone(2)) ? reject('contacts[0] worse') : accept(phones, request);
		});
		const outcome = await push(3, options);
		expect(sent.slice(1)).toEqual([[phone(0)], [phone(1)], [phone(2)]]);
		expect(Array.from(outcome.rejectedRows, ({ reason }) => reason.slice(-15))).toEqual([
			'contacts[0] bad',
			'ontacts[0] worse'.slice(-15),
		]);
	});

	test('are counted from the start of their own request', async () => {
		const { options } = scripted((phones, request) =>
			phones.includes(phone(10_005)) ? reject('contacts[5] is invalid') : accept(phones, request),
		);
		expect(statuses(await push(10_010, options))).toEqual(['10005 rejected']);
	});

	test('end the push if no row is left', async () => {
		const { sent, options } = scripted(() => reject('contacts[0] is invalid'));
		const outcome = await push(2, options);
		expect(sent.map((phones) => phones.length)).toEqual([2, 1, 1]);
		expect(statuses(outcome)).toEqual(['0 rejected', '1 rejected']);
		expect(outcome.stopped).toBeUndefined();
	});

	test('stop the push after a limited number of attempts', async () => {
		const { sent, options } = scripted(() => reject('contacts[0] is invalid'));
		const outcome = await push(MAX_REJECTED_ROWS + 2, options);
		expect(sent).toHaveLength(2 * MAX_REJECTED_ROWS + 2);
		expect(outcome.stopped?.message).toMatch(/rejected more than 100 rows of one request/);
		expect(statuses(outcome).slice(-2)).toEqual(['100 rejected', '101 not_sent']);
	});

	test.each<[string, HttpResponse]>([
		['beyond the request', reject('contacts[4] is invalid')],
		['at a status that is not about validation', reject('contacts[1] is invalid', 403)],
	])('%s reject no row', async (_name, rejection) => {
		const { sent, options } = scripted(() => rejection);
		expect(statuses(await push(3, options))).toEqual(['0 not_sent', '1 not_sent', '2 not_sent']);
		expect(sent).toHaveLength(1);
	});
});
