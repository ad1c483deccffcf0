document.querySelector("#here").textContent = "This is " + location.pathname;
