import type { Dialect } from '../dialects';
import { isObject, type JsonObject } from '../json';

export interface SentContact {
	/** International form. */
	phone: string;
	personName: string | null;
	extra: JsonObject;
	/** As sent. */
	written: string;
	/** Index in the request. */
	index: number;
}

const MOBILE = /[6-9]\d{9}$/;

/** Contacts of the documented form, as they're stored. */
export function storedContacts(list: unknown[]): SentContact[] {
	return list.filter(isObject).map(({ phone, person_name: name, ...extra }, index) => {
		const written = String(phone);
		const stored = written.startsWith('+') ? written : `+91${written}`;
		const personName = typeof name === 'string' ? name : null;
		return { phone: stored, written, personName, extra, index };
	});
}

/** What the dialect doesn't accept in contacts of the documented form. */
export function contactProblems(contacts: SentContact[], { campaigns }: Dialect): string[] {
	if (contacts.length === 0) return ['contacts must not be empty'];
	if (!campaigns.plus91NeedsMobile) return [];
	const problems = contacts
		.filter(({ phone }) => !MOBILE.test(phone))
		.map(
			({ index }) =>
				`contacts[${index + campaigns.firstContactIndex}].phone is not a mobile number`,
		);
	return campaigns.reportsEveryBadContact ? problems : problems.slice(0, 1);
}

/** One contact per number, with the longer name. The dialect decides whose extra keys are kept. */
export function withoutDuplicates(
	contacts: SentContact[],
	keep: Dialect['campaigns']['duplicates'],
): SentContact[] {
	const byPhone = new Map<string, SentContact>();
	for (const contact of contacts) {
		const first = byPhone.get(contact.phone) ?? contact;
		const isLonger = (contact.personName?.length ?? 0) > (first.personName?.length ?? 0);
		const longer = isLonger ? contact : first;
		const extra = keep === 'first' ? first.extra : { ...first.extra, ...contact.extra };
		const joined = { ...first, personName: longer.personName, extra };
		byPhone.set(contact.phone, keep === 'longerName' ? longer : joined);
	}
	return [...byPhone.values()];
}
