/** The forms of values. Names of fields say nothing, because each service has its own. */

const DATE = /^\d{4}-\d\d-\d\d$/;
const DATE_TIME = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)$/;

const FORMS = {
	agent: (text: string) => /^agent_[\w-]+$/.test(text),
	phone: (text: string) =>
		/^\+?[\d ()-]{8,20}$/.test(text) && text.replace(/\D/g, '').length >= 8 && !DATE.test(text),
	session: (text: string) => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text),
	message: (text: string) => /\S\s+\S/.test(text) && !FORMS.phone(text),
	page: (text: string) => /^[01]$/.test(text),
	date: (text: string) => DATE.test(text),
	dateTime: (text: string) => DATE_TIME.test(text),
};

type Form = keyof typeof FORMS;

const isForm = (name: string): name is Form => Object.hasOwn(FORMS, name);

export function hasForm(name: Form, text: string): boolean {
	return FORMS[name](text);
}

/** The ID of the only value that has the form of a placeholder. Of two dates, the earlier one is the start. Else empty. */
export function likelyChoice(
	placeholder: string,
	values: ReadonlyMap<string, { text: string }>,
): string {
	const found = (fits: (text: string) => boolean) =>
		[...values].filter(([, { text }]) => fits(text)).map(([id, { text }]) => ({ id, text }));
	if (placeholder === 'from' || placeholder === 'to') {
		const dates = found((text) => FORMS.date(text) || FORMS.dateTime(text));
		const [first, last] = dates.sort((one, other) => Date.parse(one.text) - Date.parse(other.text));
		if (dates.length !== 2 || first?.text === last?.text) return '';
		return (placeholder === 'from' ? first?.id : last?.id) ?? '';
	}
	const fitting = isForm(placeholder) ? found(FORMS[placeholder]) : [];
	return fitting.length === 1 ? (fitting[0]?.id ?? '') : '';
}
