import { comparableHeading } from '../../../../nodes/PushCampaignContacts/push/columns';

test.each([
	['Phone No', 'phone no', 'PHONE_NO', 'phone-no', 'PhoneNo', ' Phone\u00a0 No. ', 'Phone No:'],
	['\ufeffPhone', '\u200bphone\u200b', '\u200ephone\u202c'],
	['Phone-Home', 'phone  home', 'PhoneHome'],
	['Address 1', 'Address1', 'address_1', 'address-1'],
	['Price (₹)', 'PRICE (₹)'],
	// The same letter, composed and decomposed.
	['Re\u0301sume\u0301', 'résumé'],
	['क\u093cलम', 'क़लम'],
	['फ़ोन नंबर', 'फ़ोन_नंबर'],
	['நாள் தேதி', 'நாள்_தேதி'],
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
	['Q1.1', 'Q11', 'Q1/1'],
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
