// Texts of the changes of operators: the question before each change, and the name of its button.

export const acts = {
  credit: {
    open: "Credit a payment",
    title: "Record a payment and credit it",
    about: "For money that came in another way. It counts for the tier.",
    action: "Credit",
  },
  adjust: {
    open: "Adjust the balance",
    title: "Adjust the paid balance",
    about: "A minus takes what is there, at most. It counts for no tier.",
    action: "Adjust",
  },
  forgive: {
    open: "Forgive what is owed",
    title: "Forgive what is owed",
    about: "Up to this amount of what reversed payments left owed.",
    action: "Forgive",
  },
  refund: {
    open: "Refund",
    title: "Refund a payment",
    about: "At its provider, if it has one. An empty amount refunds all that is left.",
    action: "Refund",
  },
  suspend: {
    open: "Suspend",
    title: "Suspend this account",
    about: "Every call is refused at once. The keys stay; only an operator lifts it.",
    action: "Suspend",
  },
  resume: {
    open: "Resume",
    title: "Resume this account",
    about: "Calls are answered again. A suspension by an open dispute stays.",
    action: "Resume",
  },
  close: {
    open: "Close permanently",
    title: "Close this account permanently",
    about: "Every key is revoked, and nothing opens it again. Refund what is left before.",
    action: "Close permanently",
  },
  grant: {
    open: "Grant free credit",
    title: "Grant free credit",
    about: "The free credit that the account did not get by signing up; once.",
    action: "Grant",
  },
  contract: {
    open: "Enterprise contract",
    title: "Change the contract",
    about: "The Enterprise tier, or the tier that its payments give.",
    action: "Save",
  },
  plan: {
    open: "Change the plan",
    title: "Change the plan",
    about: "The limits of the new plan hold from the next call on.",
    action: "Save",
  },
  pause: {
    open: "Pause",
    title: "Pause a service or a model",
    about: "Every process refuses its calls with 503, and nothing is charged.",
    action: "Pause",
  },
  resumeTarget: {
    open: "Resume",
    title: "Resume a service or a model",
    about: "Every process answers its calls again.",
    action: "Resume",
  },
  mails: {
    open: "Try all now",
    title: "Try all waiting mails now",
    about: "Those that failed are sent again one by one.",
    action: "Try now",
  },
  mail: {
    open: "Try now",
    title: "Try this mail now",
    about: "The next attempt is made within seconds.",
    action: "Try now",
  },
  resend: {
    open: "Send again",
    title: "Send this mail again",
    about: "The same mail, to the same address, tried for another 24 hours.",
    action: "Send again",
  },
  replay: {
    open: "Process again",
    title: "Process this event again",
    about: "The object that it names is read anew. What was booked is not booked twice.",
    action: "Process again",
  },
  rejected: {
    open: "Write again",
    title: "Write rejected entries again",
    about: "Those that fit the ledger by now are written; the others stay.",
    action: "Write again",
  },
  rollback: {
    open: "Put in force",
    title: "Put this version in force again",
    about: "Every process takes it over in seconds. Open calls keep their prices.",
    action: "Put in force",
  },
  audit: {
    open: "Audit all accounts",
    title: "Audit all accounts",
    about: "A worker proves ledger, journal and wallets. It changes nothing.",
    action: "Audit",
  },
  auditOne: {
    open: "Audit",
    title: "Audit this account",
    about: "A worker proves its ledger, journal and wallet. It changes nothing.",
    action: "Audit",
  },
};
