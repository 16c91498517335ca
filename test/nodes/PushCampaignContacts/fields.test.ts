import { engineRing } from '../../engine';
import { accepted, answering, contactsOf, feed, jsonOf, rowsOf } from './feed';

const ring = engineRing();

test('rows become contacts, and the service’s whole answer comes out', async () => {
	const bodies = answering([200, accepted(2, { unforeseen: 'kept' })]);
	const { pushed, rejected, error, hints } = await feed(
		ring,
		rowsOf(
			{ phone: 9876543210, person_name: 'Asha Rao', city: 'Pune' },
			{ phone: '+91 91234 56789', person_name: '', city: 'Delhi' },
		),
	);
	expect(error).toBeUndefined();
	expect(bodies).toEqual([
		{
			agent_uuid: 'agent_5f2c',
			enqueue: false,
			contacts: [
				{ phone: '9876543210', person_name: 'Asha Rao', city: 'Pune' },
				{ phone: '+919123456789', city: 'Delhi' },
			],
		},
	]);
	expect(pushed).toEqual([
		{
			json: {
				...(accepted(2).data as object),
				unforeseen: 'kept',
				feed: {
					received: 2,
					pushed: 2,
					requests: 1,
					rejected: 0,
					unknown: 0,
					not_sent: 0,
					duplicate: 0,
				},
			},
			pairedItem: [{ item: 0 }, { item: 1 }],
		},
	]);
	expect(rejected).toEqual([]);
	expect(hints).toEqual([]);
});
