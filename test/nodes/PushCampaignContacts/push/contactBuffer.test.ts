import fc from 'fast-check';
import { ContactBuffer } from '../../../../nodes/PushCampaignContacts/push/contactBuffer';
import type { Contact } from '../../../../nodes/shared/api/types';

function written(contacts: readonly Contact[], expected = contacts.length): ContactBuffer {
	const made = new ContactBuffer(expected);
	for (const contact of contacts) made.add(contact);
	return made;
}

const text = fc.string({ unit: 'binary', maxLength: 400 });
const cell = fc.oneof(text, fc.double(), fc.boolean(), fc.constant(null), fc.array(text));
const contacts = fc.array(
	fc.tuple(text, fc.dictionary(text, cell)).map(([phone, others]) => ({ ...others, phone })),
);

test('writes any contacts as the JSON of a list', () => {
	fc.assert(
		fc.property(contacts, fc.nat({ max: 3 }), (people, expected) => {
			expect(`[${written(people, expected).all().toString()}]`).toBe(JSON.stringify(people));
		}),
	);
});

test('returns some contacts in the requested order', () => {
	fc.assert(
		fc.property(contacts, fc.array(fc.nat()), (people, wanted) => {
			const places = people.length === 0 ? [] : wanted.map((place) => place % people.length);
			const some = written(people).some(places);
			expect(`[${some.toString()}]`).toBe(JSON.stringify(places.map((place) => people[place])));
		}),
	);
});

test('returns each contact alone', () => {
	fc.assert(
		fc.property(contacts, (people) => {
			const all = written(people);
			for (const [place, person] of people.entries()) {
				expect(all.at(place).toString()).toBe(JSON.stringify(person));
			}
		}),
	);
});

test('allocates memory once for contacts of usual length', () => {
	const allocate = jest.spyOn(Buffer, 'allocUnsafe');
	const people = Array.from({ length: 1000 }, (_, at) => ({ phone: '+919812345678', at }));
	const all = written(people).all();
	const { length: times } = allocate.mock.calls;
	allocate.mockRestore();
	expect(times).toBe(1);
	expect(JSON.parse(`[${all.toString()}]`)).toEqual(people);
});
