/** One value that the document leaves open and the credential asks for. */
export type MappingField = {
	/** The section of the document that leaves it open. */
	section: string;
	/** Label in the credential form. */
	label: string;
	description: string;
	/** An example in the form of "e.g. …"; never a default. */
	placeholder: string;
	/** Where only a few answers make sense. None of them is chosen for the user. */
	choices?: ReadonlyArray<{ name: string; value: string }>;
	/** What the empty choice means; “Not Set” where nothing follows from it. */
	unset?: string;
	/** Whether a service can do without it, so that a block of its provider may say `null`. */
	optional?: boolean;
};

export type MappingFields = { readonly [name: string]: MappingField };

/** Where a request carries a value. */
export const PLACEMENTS = [
	{ name: 'Body', value: 'body' },
	{ name: 'Query Parameters', value: 'query' },
] as const;

/** Said of a name that may stand in a body. */
export const NESTS = 'In a body, use dots for nested names, such as entry.phone.';
