import {
	comparableHeading,
	isPhoneHeading,
} from '../../../../nodes/PushCampaignContacts/push/headings';

test.each([
	['Phone No', 'phone no', 'PHONE_NO', 'phone-no', 'PhoneNo', ' Phone\u00a0 No. ', 'Phone No:'],
	['\ufeffPhone', '\u200bphone\u200b', '\u200ephone\u202c', 'ｐｈｏｎｅ'],
	['Phone - Home', 'phone home', 'Phone–Home', 'Phone‑Home'],
	['Address 1', 'Address1', 'address_1', 'address-1'],
	['Q1 1', 'q1_1', 'Q1-1'],
	['Price (₹)', 'price(₹)', 'PRICE ( ₹ )'],
	['Customer’s Name', "customer's name"],
	// The same letter, composed and decomposed.
	['Re\u0301sume\u0301', 'résumé'],
	['क\u093cलम', 'क़लम'],
	['फ़ोन नंबर', 'फ़ोन_नंबर'],
	['நாள் தேதி', 'நாள்_தேதி'],
	['№', 'no'],
])('%p and its spellings are the same heading', (...spellings) => {
	const headings = new Set(spellings.map(comparableHeading));
	expect(headings.size).toBe(1);
});

test.each([
	// Vowel signs, nuktas, and other marks.
	['पता', 'पिता', 'पीता'],
	['पिता का फोन', 'पति का फोन'],
	['கடை', 'கட'],
	['ফোন', 'ফন'],
	['عَلَم', 'عِلْم'],
	['resume', 'résumé'],
	// Symbols and punctuation.
	['Q1.1', 'Q11', 'Q1 1', 'Q1/1'],
	['Price (₹)', 'Price ($)', 'Price', 'Price (%)'],
	['Group A+', 'Group A-', 'Group A', 'Group A*'],
	['Score 1', 'Score -1', 'Score +1', 'Score <1'],
	['m²', 'm2'],
	['_id', 'id'],
	['Phone?', 'Phone', 'Phone #', 'Phone (Home)'],
	['C', 'C#', 'C++'],
	['<18', '>18', '18'],
	['sınır', 'sinir'],
	['👍', '👎'],
])('%p and the others are different headings', (...names) => {
	const headings = new Set(names.map(comparableHeading));
	expect(headings.size).toBe(names.length);
});

test.each([
	...['Contact No', 'Contact No.', 'WhatsApp No', 'WhatsApp', 'Mob', 'Mob. No.', 'Cell', 'Cell No'],
	...['Cell Phone', 'Mobile Phone', 'Mobile Phone Number', 'Phone1', 'Phone 1', 'Phone (Primary)'],
	...[
		'Student Mobile Number',
		"Customer's Phone",
		'Lead Mobile',
		'Primary Phone',
		'Contact Mobile',
	],
	...['Telephone', 'Tel.', 'Tel No', 'Ph', 'Ph. No', 'Ph No 1', 'Phone #', 'Registered Mobile No'],
	...['phone_number', 'contact_phone', 'CONTACT NUMBER'],
])('%s is a usual heading for phone numbers', (name) => {
	expect(isPhoneHeading(name)).toBe(true);
});

test.each([
	...['Contact', 'Contact Name', 'Contacts', 'Name', 'Number', 'No', 'Phone Model', 'Mobile App'],
	...['Father Mobile', 'Alternate Mobile', 'Emergency Contact Number', 'Phone 2', 'Phone (Home)'],
	...['Mobbing', 'Telemarketing', 'Cellar', 'Phone Verified', 'Contact Owner', 'Student', ''],
	...['Patient No', 'Customer No', 'Member Number', 'Lead No'],
])('%s is none', (name) => {
	expect(isPhoneHeading(name)).toBe(false);
});
